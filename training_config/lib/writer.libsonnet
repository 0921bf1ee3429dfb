// What parsers that write decompositions add to parser.libsonnet: how targets look, their vocabulary, the decoder.
function(run) {
  decoder:: std.get(run, 'decoder', {}),
  dataset_reader+: { copy_inflections: std.get(run, 'copy_inflections', false) },
  // A word that cannot be copied and was seen only once cannot be learned.
  vocabulary: { min_count: { target_tokens: std.get(run, 'min_count', 2) } },
}
