"""Training with AllenNLP: checkpoints that survive a kill, and what ``allennlp`` needs to find this project."""
