"""The papers' own results, set beside ours.

results.py reads them, layouts.py knows the papers' tables, beside.py puts runs into those, items.py
says whose items were answered.
"""
