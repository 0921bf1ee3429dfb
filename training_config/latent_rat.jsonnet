// Latent-RAT with the paper's encoder and settings.
local latent_rat = import 'lib/latent_rat.libsonnet';

latent_rat({
  encoder: 'bert-base-uncased',
  encoder_lr: 5e-5,
  lr: 1e-3,
  batch_size: 32,
  epochs: 25,

  special_tokens: 'paper',
  dropout: 0.1,
  relations: { num_layers: 4, num_heads: 8, tied: true, relation_dim: 96, relation_layers: 3, dropout: 0.1 },
  graph_weight: 100,
  decoder: {
    hidden_dim: 768,
    embedding_dim: 768,
    num_layers: 1,
    dropout: 0.1,
    beam_size: 5,
  },
})
