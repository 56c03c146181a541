"""Masked language models pretrained on captions, as ViPhy's authors made CapBERT."""
