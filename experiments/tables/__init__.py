"""The tables: each module builds the :class:`~experiments.results.Result` of the experiment that it is named after."""
