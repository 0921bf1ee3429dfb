"""All that needs AllenNLP: dataset readers, modules, models, predictors, and the plugin that registers them."""

import warnings

# AllenNLP imports torchvision, which warns that it cannot read images; it need not.
warnings.filterwarnings("ignore", "Failed to load image Python extension")
