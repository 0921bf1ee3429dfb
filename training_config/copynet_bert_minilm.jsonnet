// CopyNet-BERT for two cores: a small encoder and a decoder of its size.
local copynet_bert = import 'lib/copynet_bert.libsonnet';

copynet_bert({
  encoder: 'all-MiniLM-L6-v2',
  encoder_lr: 3e-4,
  lr: 1e-3,
  batch_size: 32,
  epochs: 9,
  freeze_embeddings: true,
  source_weights: import 'lib/source_weights.libsonnet',

  half_precision: true,
  copy_inflections: true,
  order_by_level: true,
  dropout: 0.1,
  decoder: {
    hidden_dim: 384,
    embedding_dim: 128,
    num_layers: 2,
    dropout: 0.2,
    beam_size: 5,
  },
})
