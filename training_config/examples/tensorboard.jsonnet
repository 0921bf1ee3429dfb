// CopyNet-BERT of the paper, with its losses, rates and validation scores for `tensorboard --logdir out/run`.
(import '../copynet_bert.jsonnet') {
  trainer+: { callbacks: ['tensorboard'] },
}
