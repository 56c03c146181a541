"""Models of Hugging Face transformers: decoders, encoder-decoders, masked ones, classifiers."""

import os

# The hub's library counts who loads what, unless told not to before it is imported.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
