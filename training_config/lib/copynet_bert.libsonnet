// CopyNet-BERT; further settings of a run: copy_inflections, min_count, dropout, decoder (see CopyDecoder).
local parser = import 'parser.libsonnet';
local writer = import 'writer.libsonnet';

function(run) parser({ special_tokens: null } + run) + writer(run) {
  dataset_reader+: { type: 'break_seq2seq' },
  model: {
    type: 'copynet_bert',
    word_encoder: $.word_encoder,
    decoder: $.decoder,
    dropout: std.get(run, 'dropout', 0.1),
  },
}
