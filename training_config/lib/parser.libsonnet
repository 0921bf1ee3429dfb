// What the trainings of all parsers share; `run` are the settings of a run, by name:
//   encoder, encoder_lr, lr, batch_size, epochs, seed.
local data = import 'data.libsonnet';
local defaults = { encoder_lr: 5e-5, lr: 1e-3, batch_size: 32, seed: 7, special_tokens: 'default' };

function(settings) {
  local run = defaults + settings,

  // Special tokens go through the encoder unless `special_layers` embeds them outside of it.
  local special_outside = std.get(run, 'special_layers', 0) > 0,

  run:: run,
  token_indexers:: {
    pieces: {
      type: 'word_pieces',
      encoder: run.encoder,
      special_tokens: if special_outside then null else run.special_tokens,
    },
  } + (if std.get(run, 'pos_tag_dim', 0) == 0 then {} else {
         pos_tags: { type: 'single_id', feature_name: 'pos_', namespace: 'pos_tags' },
       }),
  word_encoder:: {
    encoder: run.encoder,
    special_tokens: run.special_tokens,
    special_layers: std.get(run, 'special_layers', 0),
    mix_layers: std.get(run, 'mix_layers', false),
    freeze_embeddings: std.get(run, 'freeze_embeddings', false),
    pos_tag_dim: std.get(run, 'pos_tag_dim', 0),
    half_precision: std.get(run, 'half_precision', false),
  },

  random_seed: run.seed,
  numpy_seed: run.seed,
  pytorch_seed: run.seed,
  // Labels and tokens that only the validation set has cannot be learned.
  datasets_for_vocab_creation: ['train'],
  train_data_path: data.train,
  validation_data_path: data.validation,
  dataset_reader: {
    token_indexers: $.token_indexers,
    special_tokens: run.special_tokens,
    pos_tags: std.get(run, 'pos_tag_dim', 0) > 0,
  },
  data_loader: {
    batch_sampler: {
      type: 'sources',
      batch_size: run.batch_size,
      weights: std.get(run, 'source_weights', {}),
      sorting_keys: ['question'],
    },
  },
  validation_data_loader: {
    batch_sampler: { type: 'by_length', batch_size: 64, field: 'question' },
  },
  trainer: {
    optimizer: {
      type: 'fused_adam',
      lr: run.lr,
      parameter_groups: [[['word_encoder\\.transformer\\.'], { lr: run.encoder_lr }]],
    },
    learning_rate_scheduler: { type: 'slanted_triangular', cut_frac: 0.06, ratio: 1000 },
    grad_norm: 1,
    num_epochs: run.epochs,
    validation_metric: '+lf_em',
    checkpointer: { type: 'durable', keep_most_recent_by_count: 1 },
  },
}
