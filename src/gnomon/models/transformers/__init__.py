"""Models of Hugging Face transformers: decoders, encoder-decoders, masked ones, classifiers."""
