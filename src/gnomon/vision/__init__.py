"""From pictures to knowledge."""
