"""What is behind ``qdecomp.load``: where parsers are, how they are opened, and when they give no plan."""
