// The last training of the bundled parser: from the weights of the bundle in the folder BUNDLE, at low rates, on rows that
// include those of scripts/fill_templates.py. 1,500 updates, of which the last weights are used.
local templates = { CHOSEN: 1.5, COMPARED: 1.5, DATED: 1.5, TWOFOLD: 1.5, YESNO: 1.5 };

(import 'from_bundle.jsonnet') {
  settings+: {
    epochs: 6,
    lr: 3e-4,
    encoder_lr: 9e-5,
    source_weights: (import '../lib/source_weights.libsonnet') + templates,
  },
  data_loader+: { batches_per_epoch: 250 },
  validation_data_path: null,
}
