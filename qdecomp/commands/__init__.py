"""The subcommands of ``qdecomp``, one module each."""
