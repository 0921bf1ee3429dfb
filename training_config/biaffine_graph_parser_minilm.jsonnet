// The biaffine graph parser for two cores: a small encoder, and special tokens outside of it.
local biaffine_graph_parser = import 'lib/biaffine_graph_parser.libsonnet';

biaffine_graph_parser({
  encoder: 'all-MiniLM-L6-v2',
  encoder_lr: 2e-4,
  lr: 1e-3,
  batch_size: 16,
  epochs: 15,
  freeze_embeddings: true,
  source_weights: import 'lib/source_weights.libsonnet',

  special_layers: 1,
  edge_dim: 300,
  label_dim: 100,
  layers: 2,
  dropout: 0.3,
  feed_forward_dropout: 0.2,
})
