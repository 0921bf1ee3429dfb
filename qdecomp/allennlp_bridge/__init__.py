"""What ties the project to AllenNLP: the plugin, the ``allennlp`` command, and parsers from archives."""

import warnings

# AllenNLP imports torchvision, which says that it cannot read images; nobody asks it to.
warnings.filterwarnings("ignore", "Failed to load image Python extension")
