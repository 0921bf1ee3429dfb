"""Metrics for decompositions: Break's official ones and LF-EM."""
