"""What follows from a story of facts about places: verdicts, the facts that they need, models."""
