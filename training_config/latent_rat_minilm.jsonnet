// Latent-RAT for two cores: a small encoder, special tokens outside it, and a decoder of its size.
local latent_rat = import 'lib/latent_rat.libsonnet';

latent_rat((import 'lib/minilm.libsonnet') {
  encoder_lr: 3e-4,
  epochs: 7,

  // The cost grows with the square of the tokens. These fit 99.5% of the training rows; for the others, only the decoder is trained.
  special_tokens: { resources: ['flights', 'size', 'number'], duplicates: 3, dummies: 4 },
  special_layers: 1,
  graph_decoder: 'greedy',
  copy_inflections: true,
  order_by_level: true,
  relations: { feed_forward_dim: 384, relation_dim: 48 },
  decoder: import 'lib/small_decoder.libsonnet',
})
