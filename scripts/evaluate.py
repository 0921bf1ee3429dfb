"""Score predicted decompositions: the same as ``qdecomp evaluate``, with the same options."""

import sys

from qdecomp.cli import main

if __name__ == "__main__":
    main(["evaluate", *sys.argv[1:]])
