"""Networks that several parsers share."""
