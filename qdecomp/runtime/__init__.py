"""The bundled parser: a trained graph parser in NumPy, so that parsing needs neither torch nor AllenNLP."""
