"""The metrics of Break and what they need: exact match, SARI, LF-EM, NormEM, GED."""
