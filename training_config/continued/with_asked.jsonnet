// The last training of the bundled parser: from the weights of the bundle in the folder BUNDLE, on rows that include those of
// data/asked_train.csv. 6,000 updates, of which the last weights are used.
(import 'from_bundle.jsonnet') {
  settings+: { epochs: 15, source_weights: import '../lib/source_weights.libsonnet' },
  data_loader+: { batches_per_epoch: 400 },
  // Rarer words that cannot be copied are mostly misspelled names.
  vocabulary+: { min_count: { target_tokens: 6 } },
  validation_data_path: null,
}
