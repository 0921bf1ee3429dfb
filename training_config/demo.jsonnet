// A first look in a few minutes: the biaffine graph parser on the sample set.
local biaffine_graph_parser = import 'lib/biaffine_graph_parser.libsonnet';

biaffine_graph_parser({
  encoder: 'all-MiniLM-L6-v2',
  encoder_lr: 3e-4,
  batch_size: 16,
  epochs: 12,
  freeze_embeddings: true,
  byte_dropout: true,

  special_tokens: 'default',
  special_layers: 1,
  graph_decoder: 'greedy',
  pos_tag_dim: 0,
  edge_dim: 200,
  label_dim: 100,
  layers: 2,
  dropout: 0.3,
  feed_forward_dropout: 0.2,
})
