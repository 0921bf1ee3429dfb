"""The HTTP service and its page: ``qdecomp serve``."""
