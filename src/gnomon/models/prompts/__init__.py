"""How an item is put to a model: prompts as data, examples, candidates."""
