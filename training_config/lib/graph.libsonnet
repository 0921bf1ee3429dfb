// What parsers that predict graphs add to parser.libsonnet: the special tokens of graphs.
{
  local set = $.complete,

  // They go through the encoder with the question unless `special_layers` embeds them outside it.
  token_indexers+:: { pieces+: { special_tokens: if set.special_layers > 0 then null else set.special_tokens } },
  word_encoder+:: {
    special_tokens: set.special_tokens,
    special_layers: set.special_layers,
    special_heads: set.special_heads,
  },
  dataset_reader+: { special_tokens: set.special_tokens },
}
