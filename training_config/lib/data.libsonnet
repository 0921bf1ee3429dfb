// Where the questions are. The sample set comes with the project; for Break itself, give its files on the command line:
//   --overrides '{"train_data_path": "break/train.csv", "validation_data_path": "break/dev.csv"}'
{
  train: 'data/train.csv',
  validation: 'data/dev.csv',
}
