"""The parsers, one file for each."""
