"""Metrics of decompositions, statistics, and comparisons of systems."""
