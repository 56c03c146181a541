"""ViPhy: typical colours, relative sizes and elevations."""
