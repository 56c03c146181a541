"""The authors' published files: what there is, where it comes from, and how it is downloaded."""
