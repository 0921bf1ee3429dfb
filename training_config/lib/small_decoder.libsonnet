// The decoder of the seq2seq parsers, for two cores.
{
  hidden_dim: 384,
  embedding_dim: 128,
  num_layers: 2,
  dropout: 0.2,
  plan_rules: true,
  coverage_penalty: 1.25,
  attention_feedback: false,
}
