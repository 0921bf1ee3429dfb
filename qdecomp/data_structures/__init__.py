"""QDMR, logical forms and graphs as immutable values, the conversions between them, and LF-EM."""
