"""The page that compares systems: its contents, its plots, its HTML."""
