// The biaffine graph parser, by its settings.
local graph = import 'graph.libsonnet';
local parser = import 'parser.libsonnet';

function(run={}) parser('biaffine_graph_parser', run) + graph {
  dataset_reader+: { type: 'break_graph' },
  model+: {
    edge_dim: $.complete.edge_dim,
    label_dim: $.complete.label_dim,
    layers: $.complete.layers,
    feed_forward_dropout: $.complete.feed_forward_dropout,
    label_weight: $.complete.label_weight,
    decoder: $.complete.graph_decoder,
    // Left out where it has no effect, so that the config of a plain training is what it always was.
    [if $.complete.mode_seeking != 0 then 'mode_seeking']: $.complete.mode_seeking,
  },
}
