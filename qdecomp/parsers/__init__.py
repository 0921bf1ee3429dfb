"""Everything that answers questions without torch: the bundled parser, consensus and confidence."""
