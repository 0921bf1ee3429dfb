// CopyNet-BERT of the paper, logged with Weights & Biases, which is installed separately: pip install wandb. WANDB_MODE=offline
// logs into the folder of the training run.
(import '../copynet_bert.jsonnet') {
  trainer+: { callbacks: [{ type: 'wandb', project: 'qdecomp', watch_model: false }] },
}
