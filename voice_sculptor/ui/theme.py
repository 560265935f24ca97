"""The page's look, as far as Gradio's theme carries it; the rest is in theme.css."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

# System fonts only: nothing is fetched, and Chinese is set in the face the reader's system is made for.
FONTS = (
    "-apple-system",
    "Segoe UI Variable Text",
    "Segoe UI",
    "PingFang SC",
    "Microsoft YaHei UI",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Roboto",
    "Helvetica Neue",
    "Arial",
    "sans-serif",
)
MONO_FONTS = ("ui-monospace", "SF Mono", "Cascadia Mono", "Noto Sans Mono", "monospace")

WAVEFORM = gr.WaveformOptions(waveform_color="#93a5a0", waveform_progress_color="#12907c", sample_rate=48_000)
"""Mid tones that stand on both the light and the dark card; a canvas cannot follow the theme."""


def make_theme() -> gr.themes.Base:
    """Colours of the bare page and fonts."""
    return gr.themes.Base(font=FONTS, font_mono=MONO_FONTS).set(
        body_background_fill="#f3f5f4",
        body_background_fill_dark="#0e1312",
        body_text_color="#16201d",
        body_text_color_dark="#e5ebe9",
    )


def head() -> str:
    """Style sheet and script for the page's head; a style sheet given to Gradio would be rewritten by it."""
    here = Path(__file__).parent
    style = (here / "theme.css").read_text(encoding="utf-8")
    script = (here / "page.js").read_text(encoding="utf-8")
    return f'<meta name="color-scheme" content="light dark"><style>{style}</style><script>{script}</script>'
