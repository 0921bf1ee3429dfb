// What parsers that write decompositions add to parser.libsonnet: how targets look, their vocabulary, the decoder.
function(run) {
  decoder:: std.get(run, 'decoder', {}),
  dataset_reader+: {
    copy_inflections: std.get(run, 'copy_inflections', false),
    order_by_level: std.get(run, 'order_by_level', false),
  },
  // Both the question's pieces and the tokens to write are padded, and both cost time.
  data_loader+: {
    batch_sampler: {
      type: 'length_grid',
      batch_size: run.batch_size,
      weights: std.get(run, 'source_weights', {}),
      cells: { 'question.pieces___ids': 2, 'copy.target': 6 },
    },
  },
  // A word that cannot be copied and was seen only once cannot be learned.
  vocabulary: { min_count: { target_tokens: std.get(run, 'min_count', 2) } },
}
