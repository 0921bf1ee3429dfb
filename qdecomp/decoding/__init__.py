"""From the probabilities of edges and labels to a dependency graph: greedily, or the most probable valid one."""

from .decoder import DECODERS as DECODERS
from .decoder import Decoded as Decoded
from .decoder import Decoder as Decoder
from .decoder import DecoderSettings as DecoderSettings
from .decoder import make_decoder as make_decoder
from .decoder import prediction_from_decoded as prediction_from_decoded
from .decoder import with_candidates as with_candidates
