"""The records of many questions, parsed or combined: here, in other processes or on a cluster."""
