// CopyNet-BERT for two cores, trained further: the weights and words of the run in the folder FIRST_RUN, at lower rates.
local first = import '../copynet_bert_minilm.jsonnet';
local folder = std.extVar('FIRST_RUN');

first {
  model+: { initializer: { regexes: [['.*', { type: 'pretrained', weights_file_path: folder + '/best.th' }]] } },
  vocabulary: { type: 'from_files', directory: folder + '/vocabulary' },
  trainer+: {
    num_epochs: 5,
    optimizer+: { lr: 6e-4, parameter_groups: [[['word_encoder\\.transformer\\.'], { lr: 1.8e-4 }]] },
  },
}
