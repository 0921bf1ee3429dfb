"""The former place of :mod:`qdecomp.training.plugin`, kept for ``~/.allennlp/plugins`` files that name it."""
