"""The page: components above, events below."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from voice_sculptor.domain import Notice
from voice_sculptor.errors import VoiceSculptorError
from voice_sculptor.ui import render
from voice_sculptor.ui.form import VoiceFields
from voice_sculptor.ui.handlers import Card, Handlers, Shown
from voice_sculptor.ui.kept import kept_panel, wire_kept
from voice_sculptor.ui.labels import Labels
from voice_sculptor.ui.panel import build_panel
from voice_sculptor.ui.strings import say
from voice_sculptor.ui.widgets import SpeechPanel, VoicePanel, speech_panel, voice_panel

# Light events are answered at once: they take no place in the queue and show no progress of their own.
_AT_ONCE: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def build_page(handlers: Handlers, warning: Notice | None = None) -> gr.Blocks:
    """The whole page over its handlers; nothing slow happens here.

    Args:
        handlers: What its events do.
        warning: Shown above everything else.
    """
    labels = Labels()
    page: gr.Blocks
    with gr.Blocks(title="Voice Sculptor", analytics_enabled=False, fill_width=True) as page:
        if warning is not None:
            gr.HTML(render.warning(warning))
        with gr.Row(elem_id="vs-header"):
            gr.HTML(render.header())
            language = labels.add(
                gr.Radio,
                lambda lang: {"label": say("language", lang)},
                choices=[("中文", "zh"), ("English", "en")],
                value="en",
                elem_id="vs-language",
                elem_classes="vs-seg",
            )
        with gr.Row(elem_id="vs-main"):
            with gr.Column(elem_id="vs-left"):
                voice = voice_panel(labels, list(handlers.presets.values()))
            with gr.Column(elem_id="vs-right"):
                speech = speech_panel(labels)
                kept = kept_panel(labels)
        build_panel(handlers.panel, labels, _AT_ONCE)

        _wire_language(page, handlers, labels, language, voice, speech)
        _wire_voice(handlers, language, voice, speech)
        cards = _wire_generation(page, handlers, voice, speech)
        bars = [slot.keep for slot in speech.slots]
        wire_kept(page, handlers, kept, bars, cards, speech.text, speech.audio_format)
    return page


def _wire_language(
    page: gr.Blocks,
    handlers: Handlers,
    labels: Labels,
    language: gr.Radio,
    voice: VoicePanel,
    speech: SpeechPanel,
) -> None:
    def translate(chosen: str, description: str, text: str, *picked: str | None) -> list[Any]:
        preset_id = next((each for each in picked if each), None)
        description, text = handlers.translated(preset_id, description, text, chosen)
        updates = labels.updates(chosen)
        # Description and text are relabelled above: their values ride on the same updates.
        for component, value in ((voice.description, description), (speech.text, text)):
            updates[labels.components.index(component)]["value"] = value
        return updates

    relabel: dict[str, Any] = {
        "fn": translate,
        "inputs": [language, voice.description, speech.text, *voice.presets],
        "outputs": labels.components,
        **_AT_ONCE,
    }
    first = page.load(None, outputs=language, js="() => voiceSculptor.language()", **_AT_ONCE)
    first.then(**relabel).then(None, inputs=language, js="(chosen) => voiceSculptor.show(chosen)", **_AT_ONCE)
    language.input(None, inputs=language, js="(chosen) => voiceSculptor.choose(chosen)", **_AT_ONCE)
    language.input(**relabel)


def _wire_voice(handlers: Handlers, language: gr.Radio, voice: VoicePanel, speech: SpeechPanel) -> None:
    num_fields, num_pickers = len(voice.fields), len(voice.presets)
    before = gr.State([])
    everything = [*voice.fields, speech.text, *voice.presets]

    def pick(index: int) -> Any:
        def picked(chosen: str, preset_id: str, *values: Any) -> list[Any]:
            fields, text = handlers.pick(preset_id, chosen)
            pickers = [preset_id if each == index else None for each in range(num_pickers)]
            return [*fields, text, *pickers, list(values), gr.update(visible=True)]

        return picked

    for index, picker in enumerate(voice.presets):
        picker.input(
            pick(index),
            inputs=[language, picker, *everything],
            outputs=[*everything, before, voice.undo],
            **_AT_ONCE,
        )

    def clear(*values: Any) -> list[Any]:
        text = values[num_fields]
        return [*VoiceFields(), text, *[None] * num_pickers, list(values), gr.update(visible=True)]

    voice.clear.click(clear, inputs=everything, outputs=[*everything, before, voice.undo], **_AT_ONCE)
    voice.undo.click(
        lambda values: [*values, gr.update(visible="hidden")],
        inputs=before,
        outputs=[*everything, voice.undo],
        **_AT_ONCE,
    )
    # Moving a dial is asking for it.
    for auto, dial in voice.dials:
        dial.input(None, outputs=auto, js="() => false", **_AT_ONCE)
    gr.on(
        [each.change for each in voice.fields],
        lambda *values: handlers.understand(VoiceFields(*values)),
        inputs=voice.fields,
        outputs=voice.understood,
        trigger_mode="always_last",
        **_AT_ONCE,
    )


def _wire_generation(page: gr.Blocks, handlers: Handlers, voice: VoicePanel, speech: SpeechPanel) -> gr.State:
    """Returns what the cards show."""
    settings = handlers.studio.settings
    num_fields = len(voice.fields)
    made = gr.State([None] * len(speech.slots))
    slot_outputs = [output for slot in speech.slots for output in slot.outputs]

    def generate(request: gr.Request, *values: Any) -> Iterator[list[Any]]:
        text, count, seed, audio_format = values[num_fields:]
        fields = VoiceFields(*values[:num_fields])
        cards: list[Card | None] = [None] * len(speech.slots)
        for shown in handlers.generate(fields, text, count, seed, audio_format, str(request.session_hash)):
            for index, card in shown.cards.items():
                cards[index] = card
            yield [
                _html(shown.progress),
                _html(shown.message),
                "" if shown.clears else gr.skip(),
                gr.update(interactive=False),
                list(cards) if shown.clears or shown.cards else gr.skip(),
                *(update for index in range(len(speech.slots)) for update in _slot_updates(shown, index)),
            ]

    def convert(audio_format: Any, cards: list[Card | None]) -> list[Any]:
        try:
            files = handlers.convert([card.played if card else None for card in cards], audio_format)
        except VoiceSculptorError as problem:
            return [render.error(problem), *[gr.skip()] * len(speech.slots)]
        return [gr.skip(), *(gr.update(value=str(file)) if file else gr.skip() for file in files)]

    def cancel(request: gr.Request) -> None:
        handlers.cancel(str(request.session_hash))

    speech.dice.click(None, outputs=speech.seed, js="() => voiceSculptor.dice()", **_AT_ONCE)
    speech.generate.click(None, js="() => voiceSculptor.reveal()", **_AT_ONCE)
    generation = speech.generate.click(
        generate,
        inputs=[*voice.fields, speech.text, speech.count, speech.seed, speech.audio_format],
        outputs=[
            speech.progress,
            speech.message,
            speech.empty,
            speech.generate,
            made,
            *slot_outputs,
        ],
        show_progress="hidden",
        api_visibility="private",
        # The worker's queue is the one with places, waits and a bound, said in the page's words; all that it can hold
        # are let through to it, and one more to be told that it is full.
        concurrency_limit=settings.max_queue + 2,
        concurrency_id="generate",
    )
    # Gradio drops a click that comes before the event has ended, which is after its last yield: the button opens when
    # a click is taken, not before. `then` is not called where the event broke.
    for ended in (generation.then, generation.failure):
        ended(lambda: gr.update(interactive=True), outputs=speech.generate, **_AT_ONCE)
    speech.cancel.click(cancel, **_AT_ONCE)
    page.unload(cancel)
    speech.audio_format.change(
        convert,
        inputs=[speech.audio_format, made],
        outputs=[speech.message, *(slot.download for slot in speech.slots)],
        show_progress="hidden",
        api_visibility="private",
    )
    # What was said of an input is over once somebody changes it; another language of the page changes it too.
    for source in (speech.text, speech.seed):
        source.change(
            None,
            inputs=speech.message,
            outputs=speech.message,
            js="(said) => document.activeElement.closest('#vs-language') ? said : ''",
            **_AT_ONCE,
        )
    for index, slot in enumerate(speech.slots):
        slot.seed.click(_seed_of(index), inputs=made, outputs=speech.seed, **_AT_ONCE)
    return made


def _seed_of(index: int) -> Callable[[list[Card | None]], str]:
    return lambda cards: str(card.seed) if (card := cards[index]) else ""


def _html(text: str | None) -> Any:
    return gr.skip() if text is None else text


def _slot_updates(shown: Shown, index: int) -> list[Any]:
    """Values for `Slot.outputs` of one place."""
    card = shown.cards.get(index)
    if index in shown.facts:
        return [shown.facts[index], *[gr.skip()] * 3]
    if card is None:
        return ["", *[gr.update(value=None)] * 3] if shown.clears else [gr.skip()] * 4
    files = (card.played, card.download, card.voice)
    # Updates, not bare values: Gradio's browser side turns a bare value into the next yield's in place, also where a
    # component still holds it.
    return [card.facts, *(gr.update(value=str(file) if file else None) for file in files)]
