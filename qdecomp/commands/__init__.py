"""The subcommands of ``qdecomp``, a module each."""
