"""Where content is and what it is packed in: local files, remote ones, Parquet, folders of parts."""
