"""Teaching a model before it is asked: a recipe, a loop that can be stopped anywhere, a folder."""
