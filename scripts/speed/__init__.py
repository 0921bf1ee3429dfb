"""The benchmarks of ``scripts/benchmark.py``, one module each, with a click command called ``command``."""
