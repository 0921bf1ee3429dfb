"""The files of trained models: archives, their fingerprints, and pretrained encoders by name."""
