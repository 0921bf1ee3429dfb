// CopyNet-BERT for two cores, trained further: the weights and words of the run in the folder FIRST_RUN, at lower rates.
local first = import '../copynet_bert_minilm.jsonnet';
local folder = std.extVar('FIRST_RUN');

first {
  settings+: { epochs: 5, lr: 6e-4, encoder_lr: 1.8e-4 },
  model+: { initializer: { regexes: [['.*', { type: 'pretrained', weights_file_path: folder + '/best.th' }]] } },
  vocabulary: { type: 'from_files', directory: folder + '/vocabulary' },
}
