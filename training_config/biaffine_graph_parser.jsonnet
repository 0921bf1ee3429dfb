// The biaffine graph parser of the paper: its encoder and its settings, which are the defaults.
local biaffine_graph_parser = import 'lib/biaffine_graph_parser.libsonnet';

biaffine_graph_parser()
