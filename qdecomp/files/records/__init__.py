"""The records of a long run, written to any kind of file so that a run that was stopped can be resumed."""
