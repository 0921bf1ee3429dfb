"""The parsers, each in a file of its own."""
