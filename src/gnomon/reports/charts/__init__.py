"""Drawing: SVG primitives, plots and panels."""
