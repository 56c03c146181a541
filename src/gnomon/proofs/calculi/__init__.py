"""Qualitative calculi of space: relations between areas, stretches, points and rectangles."""
