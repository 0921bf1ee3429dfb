// CopyNet-BERT, by its settings.
local parser = import 'parser.libsonnet';
local writer = import 'writer.libsonnet';

function(run={}) parser('copynet_bert', run) + writer {
  dataset_reader+: { type: 'break_seq2seq' },
}
