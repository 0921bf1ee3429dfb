"""The first module, by the alphabet, that ``--include-package qdecomp`` imports: it loads the plugin.

What the plugin installs stops the import there: other modules need libraries that need not be installed.
"""

import qdecomp.training.plugin  # noqa: F401
