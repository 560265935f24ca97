"""Who may work, when, and on which thread."""
