"""Inputs that nobody would write, for every door of the package; see ``scripts/fuzz.py``."""
