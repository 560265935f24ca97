"""What the API answers, one file per noun."""
