"""Converting whole files of annotated decompositions, with conversions that are made once and kept on disk."""
