"""Imported by Python at the start of every process that a test starts: the tests put its folder on PYTHONPATH."""

import os

if __name__ == "sitecustomize" and "QDECOMP_TESTS_READS_LOG" in os.environ:
    import outside_reads

    outside_reads.watch()
