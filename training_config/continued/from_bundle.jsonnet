// CopyNet-BERT on your own data, from the weights and words of the bundle in the folder BUNDLE (or minilm_break, which
// comes with the package), at lower rates. Words of your data that the bundle does not know are added.
local first = import '../copynet_bert_minilm.jsonnet';
local folder = std.extVar('BUNDLE');

first {
  settings+: { epochs: 5, lr: 6e-4, encoder_lr: 1.8e-4, source_weights: {} },
  model+: { initializer: { regexes: [['.*', { type: 'bundle', folder: folder }]] } },
  vocabulary+: { type: 'bundle', folder: folder },
}
