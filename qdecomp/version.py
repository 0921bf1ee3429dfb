"""The version of the package, in a file that imports nothing."""

VERSION = "0.1.0"
