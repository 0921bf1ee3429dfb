// The biaffine graph parser for two cores, from the weights and labels of the bundled graph parser in the folder BUNDLE, at
// lower rates. Labels of the training data that the bundle does not know are added.
local first = import '../biaffine_graph_parser_minilm.jsonnet';
local folder = std.extVar('BUNDLE');

first {
  settings+: { epochs: 5, lr: 7e-4, encoder_lr: 1.6e-4, mode_seeking: 0.1 },
  model+: { initializer: { regexes: [['.*', { type: 'bundle', folder: folder }]] } },
  vocabulary+: { type: 'bundle', folder: folder },
}
