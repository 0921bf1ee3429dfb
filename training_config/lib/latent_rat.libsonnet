// Latent-RAT, by its settings.
local graph = import 'graph.libsonnet';
local parser = import 'parser.libsonnet';
local writer = import 'writer.libsonnet';

function(run={}) parser('latent_rat', run) + graph + writer {
  dataset_reader+: { type: 'break_multitask' },
  model+: {
    relation_encoder: $.complete.relations,
    graph_weight: $.complete.graph_weight,
    predict_with: $.complete.predict_with,
    graph_decoder: $.complete.graph_decoder,
  },
}
