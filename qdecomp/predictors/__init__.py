"""From the output of a parser to prediction records."""
