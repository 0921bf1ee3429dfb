// What all parsers for two cores have in common: a small encoder, trained quickly.
{
  encoder: 'all-MiniLM-L6-v2',
  freeze_embeddings: true,
  half_precision: true,
  byte_dropout: true,
  source_weights: import 'source_weights.libsonnet',
}
