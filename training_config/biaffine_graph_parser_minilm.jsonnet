// The biaffine graph parser for two cores: a small encoder, and special tokens outside it.
local biaffine_graph_parser = import 'lib/biaffine_graph_parser.libsonnet';

biaffine_graph_parser((import 'lib/minilm.libsonnet') {
  encoder_lr: 2e-4,
  batch_size: 16,
  epochs: 15,

  special_tokens: 'default',
  special_layers: 1,
  graph_decoder: 'greedy',
  pos_tag_dim: 0,
  label_dim: 100,
  layers: 2,
  dropout: 0.3,
  feed_forward_dropout: 0.2,
})
