// CopyNet-BERT with the paper's encoder and settings.
local copynet_bert = import 'lib/copynet_bert.libsonnet';

copynet_bert({
  encoder: 'bert-base-uncased',
  encoder_lr: 5e-5,
  lr: 1e-3,
  batch_size: 32,
  epochs: 25,

  dropout: 0.1,
  decoder: {
    hidden_dim: 768,
    embedding_dim: 768,
    num_layers: 1,
    dropout: 0.1,
    beam_size: 5,
  },
})
