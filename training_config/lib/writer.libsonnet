// What seq2seq parsers add to parser.libsonnet: how targets look, their vocabulary, the decoder.
{
  dataset_reader+: {
    copy_inflections: $.complete.copy_inflections,
    order_by_level: $.complete.order_by_level,
  },
  model+: { decoder: $.complete.decoder },
  // Both the question's pieces and the tokens to write are padded, and both cost time.
  data_loader+: {
    batch_sampler: {
      type: 'length_grid',
      batch_size: $.complete.batch_size,
      weights: $.complete.source_weights,
      cells: { 'question.pieces___ids': 2, 'copy.target': 6 },
    },
  },
  // A word that cannot be copied and was seen only once cannot be learned.
  vocabulary: { min_count: { target_tokens: $.complete.min_count } },
}
