"""What ties the project to AllenNLP: the plugin, the ``allennlp`` command, and parsers from archives."""
