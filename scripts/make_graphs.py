"""Turn annotated decompositions into dependency graphs: the same as ``qdecomp convert``, with the same options."""

import sys

from qdecomp.cli import main

if __name__ == "__main__":
    main(["convert", *sys.argv[1:]])
