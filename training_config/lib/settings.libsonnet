// Every setting of every parser with its default, which is the paper's wherever the paper names one.
// README.md says what each of them does.
local shared = {
  encoder: 'bert-base-uncased',
  encoder_lr: 5e-5,
  lr: 1e-3,
  batch_size: 32,
  seed: 7,
  pos_tag_dim: 0,
  mix_layers: false,
  freeze_embeddings: false,
  transformer_dropout: null,
  half_precision: false,
  byte_dropout: false,
  source_weights: {},
};

local graphs = {
  special_tokens: 'paper',
  special_layers: 0,
  special_heads: 4,
  graph_decoder: 'projection',
};

local texts = {
  epochs: 25,
  dropout: 0.1,
  copy_inflections: false,
  order_by_level: false,
  min_count: 2,
  decoder: {
    hidden_dim: 768,
    embedding_dim: 768,
    num_layers: 1,
    dropout: 0.1,
    beam_size: 5,
    max_steps: 150,
    plan_rules: false,
    coverage_penalty: 0,
    attention_feedback: true,
  },
};

{
  biaffine_graph_parser: shared + graphs {
    epochs: 80,
    pos_tag_dim: 100,
    edge_dim: 300,
    label_dim: 300,
    layers: 3,
    dropout: 0.6,
    feed_forward_dropout: 0.3,
    label_weight: 1,
    mode_seeking: 0,
  },

  copynet_bert: shared + texts,

  latent_rat: shared + graphs + texts {
    relations: {
      num_layers: 4,
      num_heads: 8,
      tied: true,
      feed_forward_dim: null,
      relation_dim: 96,
      relation_layers: 3,
      dropout: 0.1,
    },
    graph_weight: 100,
    predict_with: 'decoder',
  },
}
