"""The paper's experiments as a graph of jobs: splits, training, predictions, tables, figures (docs/experiments.md)."""
