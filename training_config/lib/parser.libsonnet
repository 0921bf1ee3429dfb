// What the training of all parsers shares. A config consists of `settings`, which another config can extend:
//   (import 'copynet_bert.jsonnet') { settings+: { epochs: 3, decoder+: { beam_size: 10 } } }
local data = import 'data.libsonnet';
local known = import 'known.libsonnet';
local defaults_of = import 'settings.libsonnet';

function(parser, run) {
  local defaults = defaults_of[parser],
  local mistakes = known.mistakes(parser, self.settings, defaults),
  assert mistakes == '' : mistakes,

  settings:: defaults + run,
  complete:: known.complete(self.settings, defaults),
  local set = self.complete,

  token_indexers:: {
    pieces: {
      type: 'word_pieces',
      encoder: set.encoder,
      special_tokens: null,
    },
  } + (if set.pos_tag_dim == 0 then {} else {
         pos_tags: { type: 'single_id', feature_name: 'pos_', namespace: 'pos_tags' },
       }),
  word_encoder:: {
    encoder: set.encoder,
    special_tokens: null,
    mix_layers: set.mix_layers,
    freeze_embeddings: set.freeze_embeddings,
    pos_tag_dim: set.pos_tag_dim,
    transformer_dropout: set.transformer_dropout,
    half_precision: set.half_precision,
  },

  random_seed: set.seed,
  numpy_seed: set.seed,
  pytorch_seed: set.seed,
  // Labels and tokens that only the validation set has cannot be learned.
  datasets_for_vocab_creation: ['train'],
  train_data_path: data.train,
  validation_data_path: data.validation,
  dataset_reader: {
    token_indexers: $.token_indexers,
    special_tokens: null,
    pos_tags: set.pos_tag_dim > 0,
  },
  model: {
    type: parser,
    word_encoder: $.word_encoder,
    dropout: set.dropout,
    byte_dropout: set.byte_dropout,
  },
  data_loader: {
    batch_sampler: {
      type: 'sources',
      batch_size: set.batch_size,
      weights: set.source_weights,
      sorting_keys: ['question'],
    },
  },
  validation_data_loader: {
    batch_sampler: { type: 'by_length', batch_size: 64, field: 'question' },
  },
  trainer: {
    optimizer: {
      type: 'fused_adam',
      lr: set.lr,
      parameter_groups: [[['word_encoder\\.transformer\\.'], { lr: set.encoder_lr }]],
    },
    learning_rate_scheduler: { type: 'slanted_triangular', cut_frac: 0.06, ratio: 1000 },
    grad_norm: 1,
    num_epochs: set.epochs,
    validation_metric: '+lf_em',
    checkpointer: { type: 'durable', keep_most_recent_by_count: 1 },
  },
}
