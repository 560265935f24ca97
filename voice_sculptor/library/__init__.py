"""What is kept: voices."""
