"""``python -m qdecomp`` is the command ``qdecomp``."""

from qdecomp.cli import main

if __name__ == "__main__":
    main()
