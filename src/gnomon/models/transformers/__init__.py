"""Models of Hugging Face transformers: causal, sequence-to-sequence, masked and sentence
classifiers."""
