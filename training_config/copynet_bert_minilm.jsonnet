// CopyNet-BERT for two cores: a small encoder and a decoder of its size.
local copynet_bert = import 'lib/copynet_bert.libsonnet';

copynet_bert((import 'lib/minilm.libsonnet') {
  encoder_lr: 3e-4,
  epochs: 9,

  copy_inflections: true,
  order_by_level: true,
  decoder: import 'lib/small_decoder.libsonnet',
})
