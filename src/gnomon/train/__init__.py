"""How a model is taught: probes, finetuning, pretraining on captions, and curves over them."""
