"""The panel at the foot of the page: always in view, and what it does takes no place in any queue."""

from __future__ import annotations

from typing import Any

import gradio as gr

from voice_sculptor.ui.labels import Labels, titled
from voice_sculptor.ui.panel_handlers import PanelHandlers

REFRESH_S = 1.0


def build_panel(handlers: PanelHandlers, labels: Labels, at_once: dict[str, Any]) -> None:
    """Components and events of the panel; called inside the page.

    Args:
        handlers: What it does.
        labels: Get the words of its buttons.
        at_once: Options of events that are answered beside the queue.
    """
    with gr.Row(elem_id="vs-foot"):
        status = gr.HTML(handlers.show(), elem_id="vs-status")
        unload = labels.add(gr.Button, titled("unload"), elem_id="vs-unload", elem_classes="vs-chip-button")
        reload = labels.add(gr.Button, titled("reload"), elem_id="vs-reload", elem_classes="vs-chip-button")
    gr.Timer(REFRESH_S).tick(handlers.show, outputs=status, **at_once)
    unload.click(handlers.unload, outputs=status, **at_once)
    reload.click(handlers.reload, outputs=status, **at_once)
