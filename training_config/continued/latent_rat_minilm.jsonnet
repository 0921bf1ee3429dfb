// Latent-RAT for two cores, on the encoder and the decoder of the CopyNet-BERT in the folder FIRST_RUN.
local scratch = import '../latent_rat_minilm.jsonnet';
local folder = std.extVar('FIRST_RUN');
local pretrained = { type: 'pretrained', weights_file_path: folder + '/best.th' };

scratch {
  settings+: { epochs: 5, lr: 8e-4, encoder_lr: 2e-4 },
  model+: {
    initializer: { regexes: [['word_encoder\\.transformer\\..*', pretrained], ['decoder\\..*', pretrained]] },
  },
  // The words to write are those of the first run, in its order; only the labels of edges are new.
  vocabulary: { type: 'extend', directory: folder + '/vocabulary', min_count: { target_tokens: 1000000 } },
}
