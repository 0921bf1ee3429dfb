// CopyNet-BERT of the paper: its encoder and its settings, which are the defaults.
local copynet_bert = import 'lib/copynet_bert.libsonnet';

copynet_bert()
