"""From the probabilities of edges and labels to a dependency graph: greedily, or the most probable valid one."""

from qdecomp.decoding.decoder import DECODERS as DECODERS
from qdecomp.decoding.decoder import Decoded as Decoded
from qdecomp.decoding.decoder import Decoder as Decoder
from qdecomp.decoding.decoder import DecoderSettings as DecoderSettings
from qdecomp.decoding.decoder import make_decoder as make_decoder
from qdecomp.decoding.decoder import with_candidates as with_candidates
