"""Files that are written completely or not at all; a problem with one is a clear error."""
