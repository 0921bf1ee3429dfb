"""The bundled parser: trained networks in NumPy, so that parsing needs neither torch nor AllenNLP."""
