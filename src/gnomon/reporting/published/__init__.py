"""The papers' own results, set beside ours."""
