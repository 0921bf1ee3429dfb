// The biaffine graph parser with the paper's encoder and settings.
local biaffine_graph_parser = import 'lib/biaffine_graph_parser.libsonnet';

biaffine_graph_parser({
  encoder: 'bert-base-uncased',
  encoder_lr: 5e-5,
  lr: 1e-3,
  batch_size: 32,
  epochs: 80,

  special_tokens: 'paper',
  pos_tag_dim: 100,
  edge_dim: 300,
  label_dim: 300,
  layers: 3,
  dropout: 0.6,
  feed_forward_dropout: 0.3,
})
