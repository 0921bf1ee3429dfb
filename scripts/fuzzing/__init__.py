"""Inputs that nobody would write, for every entry point of the package; see ``scripts/fuzz.py``."""
