"""Image synthesis as a model: pictures are painted from prompts, kept, looked at and judged."""
