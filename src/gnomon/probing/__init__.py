"""How a model is prepared before it is asked: prompts as data."""
