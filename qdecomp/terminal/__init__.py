"""What the terminal shows: tables, progress, and commands that are imported only when they run."""
