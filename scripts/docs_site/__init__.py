"""What the documentation site needs beyond mkdocs: pages from other files of the project, and readable docstrings."""
