"""From a model's free reply to one of the choices."""
