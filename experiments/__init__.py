"""The paper's experiments as a graph of jobs: splits, trainings, predictions, tables, figures (docs/experiments.md)."""
