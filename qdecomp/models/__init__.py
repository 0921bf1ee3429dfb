"""The parsers, one module each."""
