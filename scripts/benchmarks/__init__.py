"""The benchmarks of ``scripts/benchmark.py``, one a module, each with a click command called ``command``."""
