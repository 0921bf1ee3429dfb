"""What connects the project with AllenNLP: the plugin, the ``allennlp`` command, and parsers from archives."""

import warnings

# AllenNLP imports torchvision, which warns that it cannot read images; it need not.
warnings.filterwarnings("ignore", "Failed to load image Python extension")
