"""What the terminal shows: tables, progress, and commands that are imported when they run."""
