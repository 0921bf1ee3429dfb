// CopyNet-BERT of the paper in mixed precision on a GPU: float16 with a scaled loss. The setting half_precision is another
// one: it trains only the encoder's products in bfloat16, and needs no scale.
(import '../copynet_bert.jsonnet') {
  trainer+: { use_amp: true },
}
