"""The page: a thin Gradio skin over the studio."""
