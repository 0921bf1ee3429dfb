"""The alignment of a logical form's words to the question's tokens."""
