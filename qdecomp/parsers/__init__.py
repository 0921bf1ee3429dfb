"""All parsing without torch: the bundled parser, language models, consensus and confidence."""
