"""What is asked: one module per benchmark family."""
