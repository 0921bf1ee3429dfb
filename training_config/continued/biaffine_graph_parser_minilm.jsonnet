// The biaffine graph parser for two cores, on the encoder of the run in the folder FIRST_RUN (of any parser with it).
local scratch = import '../biaffine_graph_parser_minilm.jsonnet';
local weights = std.extVar('FIRST_RUN') + '/best.th';

scratch {
  settings+: { epochs: 8 },
  model+: {
    initializer: { regexes: [['word_encoder\\.transformer\\..*', { type: 'pretrained', weights_file_path: weights }]] },
  },
}
