"""A plug-in package with one of each: a benchmark, a model, a measure, a figure, a command."""
