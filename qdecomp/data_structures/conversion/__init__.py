"""The arrows of QDMR → LF → SDG → DG, one module each with both directions, and the chain of all three."""
