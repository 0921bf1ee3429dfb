// Latent-RAT; further settings of a run: those of copynet_bert.libsonnet, relations (see RelationAwareEncoder),
//   graph_weight, predict_with, graph_decoder.
local parser = import 'parser.libsonnet';
local writer = import 'writer.libsonnet';

function(run) parser(run) + writer(run) {
  dataset_reader+: { type: 'break_multitask' },
  model: {
    type: 'latent_rat',
    word_encoder: $.word_encoder,
    relation_encoder: std.get(run, 'relations', {}),
    decoder: $.decoder,
  } + {
    [name]: run[name]
    for name in ['dropout', 'graph_weight', 'predict_with', 'graph_decoder']
    if std.objectHas(run, name)
  },
}
