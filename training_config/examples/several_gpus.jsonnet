// CopyNet-BERT of the paper on two GPUs. Each has a process that takes half of the rows and makes its own batches, here of
// half the size, so that an update still sees 32 questions.
(import '../copynet_bert.jsonnet') {
  settings+: { batch_size: 16 },
  distributed: { cuda_devices: [0, 1] },
}
