"""Who is asked: one module per kind of model."""
