"""The list of kept voices on the page: its components and its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block

from voice_sculptor.ui import render
from voice_sculptor.ui.handlers import Card, Handlers, Shown
from voice_sculptor.ui.kept_handlers import KeptHandlers, Listing
from voice_sculptor.ui.labels import Labels, named, titled
from voice_sculptor.ui.strings import say
from voice_sculptor.ui.theme import WAVEFORM

_AT_ONCE: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


@dataclass
class KeepBar:
    """What keeps the voice of a candidate's card."""

    name: gr.Textbox
    keep: gr.Button


@dataclass
class KeptPanel:
    """The list, what can be done with the chosen voice, and what it says. All is always mounted: see `widgets.Slot`."""

    undo: gr.Button
    note: gr.HTML
    picker: gr.Radio
    name: gr.Textbox
    rename: gr.Button
    delete: gr.Button
    speak: gr.Button
    cancel: gr.Button
    message: gr.HTML
    progress: gr.HTML
    facts: gr.HTML
    audio: gr.Audio
    download: gr.DownloadButton


def keep_bar(labels: Labels) -> KeepBar:
    """A name and a button, for a candidate's card."""
    with gr.Row(elem_classes="vs-keep"):
        name = labels.add(
            gr.Textbox,
            lambda lang: {"label": say("kept_name", lang), "placeholder": say("kept_name_hint", lang)},
            max_lines=1,
            show_label=False,
            container=False,
            elem_classes="vs-keep-name",
        )
        keep = labels.add(gr.Button, titled("keep"), elem_classes="vs-chip-button vs-keep-button")
    return KeepBar(name, keep)


def kept_panel(labels: Labels) -> KeptPanel:
    """The section of the page."""
    with gr.Column(elem_id="vs-kept", elem_classes="vs-section"):
        with gr.Row(elem_classes="vs-head"):
            gr.HTML(render.heading("kept", "kept_hint"))
            undo = labels.add(
                gr.Button,
                titled("kept_undo"),
                elem_id="vs-kept-undo",
                elem_classes="vs-link",
                visible="hidden",
            )
        note = gr.HTML(render.none_kept(), elem_id="vs-kept-note")
        picker = labels.add(
            gr.Radio,
            named("kept_voice"),
            choices=[],
            value=None,
            elem_id="vs-kept-list",
            elem_classes="vs-chips",
        )
        with gr.Row(elem_classes="vs-kept-actions"):
            name = labels.add(
                gr.Textbox,
                named("kept_name"),
                max_lines=1,
                show_label=False,
                container=False,
                elem_id="vs-kept-name",
            )
            rename = labels.add(
                gr.Button, titled("rename"), elem_id="vs-kept-rename", elem_classes="vs-chip-button vs-bare"
            )
            delete = labels.add(
                gr.Button, titled("delete"), elem_id="vs-kept-delete", elem_classes="vs-chip-button vs-bare"
            )
            speak = labels.add(
                gr.Button,
                titled("kept_speak"),
                elem_id="vs-kept-speak",
                elem_classes="vs-chip-button vs-bare",
            )
            cancel = labels.add(
                gr.Button, titled("cancel"), elem_id="vs-kept-cancel", elem_classes="vs-chip-button vs-bare"
            )
        message = gr.HTML(elem_id="vs-kept-message")
        progress = gr.HTML(elem_id="vs-kept-progress")
        with gr.Column(elem_id="vs-kept-card", elem_classes="vs-card"):
            with gr.Row(elem_classes="vs-card-head"):
                facts = gr.HTML(elem_classes="vs-card-facts")
                download = labels.add(
                    gr.DownloadButton, named("save_audio"), elem_classes="vs-chip-button vs-save-audio"
                )
            audio = gr.Audio(
                type="filepath",
                interactive=False,
                show_label=False,
                label=say("kept", "en"),
                buttons=[],
                waveform_options=WAVEFORM,
                elem_classes="vs-player",
            )
    return KeptPanel(
        undo, note, picker, name, rename, delete, speak, cancel, message, progress, facts, audio, download
    )


def wire_kept(
    page: gr.Blocks,
    handlers: Handlers,
    panel: KeptPanel,
    bars: Sequence[KeepBar],
    cards: gr.State,
    text: gr.Textbox,
    audio_format: gr.Radio,
) -> None:
    """The section's events.

    Args:
        page: Whose loading fills the list.
        handlers: Those of the rest of the page.
        panel: The section.
        bars: One per candidate's card.
        cards: What the cards show.
        text: What is spoken.
        audio_format: Of the download.
    """
    kept = KeptHandlers(handlers)
    deleted = gr.State(None)
    listing: list[Block] = [panel.picker, panel.note, panel.name, panel.message, deleted, panel.undo]

    def does(work: Callable[..., Listing]) -> Callable[..., list[Any]]:
        return lambda *values: _list_updates(work(*values))

    page.load(does(kept.listed), outputs=listing, **_AT_ONCE)
    panel.picker.input(does(kept.listed), inputs=panel.picker, outputs=listing, **_AT_ONCE)
    for index, bar in enumerate(bars):

        def keep(shown: list[Card | None], name: str, chosen: str | None, index: int = index) -> list[Any]:
            made = kept.keep(shown[index], name, chosen)
            return [*_list_updates(made), "" if made.is_done else gr.skip()]

        inputs, outputs = [cards, bar.name, panel.picker], [*listing, bar.name]
        for event in (bar.keep.click, bar.name.submit):
            event(keep, inputs=inputs, outputs=outputs, **_AT_ONCE)
    for event in (panel.rename.click, panel.name.submit):
        event(does(kept.rename), inputs=[panel.picker, panel.name], outputs=listing, **_AT_ONCE)
    panel.delete.click(does(kept.delete), inputs=panel.picker, outputs=listing, **_AT_ONCE)
    panel.undo.click(does(kept.restore), inputs=deleted, outputs=listing, **_AT_ONCE)

    def speak(request: gr.Request, chosen: str | None, words: str, form: Any) -> Iterator[list[Any]]:
        for shown in kept.speak(chosen, words, form, str(request.session_hash)):
            yield [
                gr.skip() if shown.progress is None else shown.progress,
                gr.skip() if shown.message is None else shown.message,
                gr.update(interactive=False),
                *_card_updates(shown),
            ]

    def cancel(request: gr.Request) -> None:
        kept.cancel(str(request.session_hash))

    speaking = panel.speak.click(
        speak,
        inputs=[panel.picker, text, audio_format],
        outputs=[panel.progress, panel.message, panel.speak, panel.facts, panel.audio, panel.download],
        show_progress="hidden",
        api_visibility="private",
        # One bound for both ways to the worker's queue: see `page`.
        concurrency_limit=handlers.studio.settings.max_queue + 2,
        concurrency_id="generate",
    )
    for ended in (speaking.then, speaking.failure):
        ended(lambda: gr.update(interactive=True), outputs=panel.speak, **_AT_ONCE)
    panel.cancel.click(cancel, **_AT_ONCE)
    page.unload(cancel)


def _list_updates(listing: Listing) -> list[Any]:
    """Values for the list, its note, the name, the message, the deleted one's id and the button that undoes."""
    return [
        gr.update(choices=list(listing.choices), value=listing.chosen),
        "" if listing.choices else render.none_kept(),
        listing.name,
        listing.message,
        gr.skip() if listing.deleted is None else listing.deleted,
        gr.skip() if listing.deleted is None else gr.update(visible=True if listing.deleted else "hidden"),
    ]


def _card_updates(shown: Shown) -> list[Any]:
    """Values for facts, player and download."""
    card = shown.cards.get(0)
    if card is None:
        return ["", *[gr.update(value=None)] * 2] if shown.clears else [gr.skip()] * 3
    files = (card.played, card.download)
    return [card.facts, *(gr.update(value=str(file) if file else None) for file in files)]
