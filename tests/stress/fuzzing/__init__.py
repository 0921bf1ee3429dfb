"""Inputs that nobody would write, for every entry point: ``python -m tests.stress.fuzzing``."""
