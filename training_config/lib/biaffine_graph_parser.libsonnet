// The biaffine graph parser; further settings of a run are the names below, see qdecomp/models/biaffine_graph_parser.py.
local parser = import 'parser.libsonnet';

function(run) parser(run) {
  dataset_reader+: { type: 'break_graph' },
  model: {
    type: 'biaffine_graph_parser',
    word_encoder: $.word_encoder,
  } + {
    [name]: run[name]
    for name in ['edge_dim', 'label_dim', 'layers', 'dropout', 'feed_forward_dropout', 'label_weight', 'decoder']
    if std.objectHas(run, name)
  },
}
