"""Reading text, tables, Break's CSV, questions and predictions, with errors that say what is wrong and where."""
