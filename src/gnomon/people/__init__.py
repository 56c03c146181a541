"""People as annotators: asked the same items as models, logged as safely, scored the same way.

A person is a run: model `people:NAME`, one folder for each person and set of items.
"""
