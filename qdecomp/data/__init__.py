"""From files to what models read: readers, tokenizer, fields."""
