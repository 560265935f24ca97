"""The page's components: what there is and what it is called. Events are in page.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block

from voice_sculptor.controls import (
    AGE_RANGE_YEARS,
    EMOTION_WORDS,
    GENDER_WORDS,
    LEVEL_WORDS,
    SPEED_RANGE,
    Controls,
)
from voice_sculptor.domain import (
    AUDIO_FORMATS,
    MAX_CANDIDATES,
    MAX_DESCRIPTION_CHARS,
    PRESET_GROUPS,
    Preset,
)
from voice_sculptor.language.describe import level_words
from voice_sculptor.ui import render
from voice_sculptor.ui.form import AUTO, LEVELS, VoiceFields
from voice_sculptor.ui.kept import KeepBar, keep_bar
from voice_sculptor.ui.labels import Labels, named, titled
from voice_sculptor.ui.strings import say
from voice_sculptor.ui.theme import WAVEFORM


@dataclass
class VoicePanel:
    """What describes a voice.

    Attributes:
        presets: One picker a group.
        undo: Takes back the last pick or clearing.
        clear: Empties the description and leaves all controls unspecified.
        description: Free words.
        dials: Sliders, each with the box that leaves it unspecified.
        fields: All that make up `VoiceFields`, in its order.
        understood: What was read from the description.
    """

    presets: list[gr.Radio]
    undo: gr.Button
    clear: gr.Button
    description: gr.Textbox
    dials: list[tuple[gr.Checkbox, gr.Slider]]
    fields: list[Any]
    understood: gr.HTML


@dataclass
class Slot:
    """A candidate's place.

    It is always there, and the style sheet shows it once it has facts: Gradio loses updates of components that it has
    yet to mount.
    """

    facts: gr.HTML
    seed: gr.Button
    audio: gr.Audio
    download: gr.DownloadButton
    voice: gr.DownloadButton
    keep: KeepBar

    @property
    def outputs(self) -> list[Block]:
        """What changes with the candidate."""
        return [self.facts, self.audio, self.download, self.voice]


@dataclass
class SpeechPanel:
    """What is spoken, how often, and what came of it."""

    text: gr.Textbox
    count: gr.Radio
    seed: gr.Textbox
    dice: gr.Button
    generate: gr.Button
    cancel: gr.Button
    message: gr.HTML
    progress: gr.HTML
    audio_format: gr.Radio
    empty: gr.HTML
    slots: list[Slot]


def voice_panel(labels: Labels, presets: Sequence[Preset]) -> VoicePanel:
    """Preset picker, description and the seven controls."""
    with gr.Column(elem_classes="vs-section vs-presets"):
        with gr.Row(elem_classes="vs-head"):
            gr.HTML(render.heading("presets"))
            undo = labels.add(
                gr.Button, titled("undo"), elem_id="vs-undo", elem_classes="vs-link", visible="hidden"
            )
            clear = labels.add(gr.Button, titled("clear"), elem_id="vs-clear", elem_classes="vs-link")
        pickers = [_picker(labels, presets, group) for group in PRESET_GROUPS]
    with gr.Column(elem_classes="vs-section"):
        description = labels.add(
            gr.Textbox,
            lambda lang: {"label": say("description", lang), "placeholder": say("description_hint", lang)},
            lines=3,
            max_lines=8,
            max_length=MAX_DESCRIPTION_CHARS,
            elem_id="vs-description",
        )
        understood = gr.HTML(elem_id="vs-understood")
    with gr.Column(elem_classes="vs-section vs-controls"):
        gr.HTML(render.heading("controls", "controls_hint"), elem_classes="vs-head")
        gender = _segments(labels, "gender", {key: words[:2] for key, words in GENDER_WORDS.items()})
        age = _dial(labels, "age", *AGE_RANGE_YEARS, step=1)
        pitch, variation, volume = (
            _segments(labels, name, level_words_of(name, [preset.controls for preset in presets]))
            for name in LEVELS
        )
        speed = _dial(labels, "speed", *SPEED_RANGE, step=0.05)
        emotion = _segments(labels, "emotion", {key: words[:2] for key, words in EMOTION_WORDS.items()})
        intensity = labels.add(
            gr.Slider,
            named("intensity"),
            minimum=0.0,
            maximum=1.0,
            step=0.05,
            value=VoiceFields().intensity,
            elem_id="vs-intensity",
            elem_classes="vs-dial",
            buttons=[],
        )
    fields = [description, gender, *age, pitch, variation, volume, *speed, emotion, intensity]
    return VoicePanel(pickers, undo, clear, description, [age, speed], fields, understood)


def speech_panel(labels: Labels) -> SpeechPanel:
    """Text, number, seed, actions, progress and the candidates' places."""
    with gr.Column(elem_classes="vs-section"):
        text = labels.add(
            gr.Textbox,
            lambda lang: {"label": say("text", lang), "placeholder": say("text_hint", lang)},
            lines=5,
            max_lines=14,
            elem_id="vs-text",
        )
        with gr.Row(elem_classes="vs-request"):
            count = labels.add(
                gr.Radio,
                named("candidates"),
                choices=[(str(n), n) for n in range(1, MAX_CANDIDATES + 1)],
                value=3,
                elem_id="vs-count",
                elem_classes="vs-seg vs-stacked",
            )
            seed = labels.add(
                gr.Textbox,
                lambda lang: {"label": say("seed", lang), "placeholder": say("seed_hint", lang)},
                max_lines=1,
                elem_id="vs-seed",
            )
            dice = labels.add(gr.Button, titled("dice"), elem_id="vs-dice", elem_classes="vs-icon")
        with gr.Row(elem_id="vs-actions"):
            generate = labels.add(gr.Button, titled("generate"), variant="primary", elem_id="vs-generate")
            cancel = labels.add(gr.Button, titled("cancel"), elem_id="vs-cancel")
        message = gr.HTML(elem_id="vs-message")
        progress = gr.HTML(elem_id="vs-progress")
    with gr.Column(elem_classes="vs-section vs-results"):
        with gr.Row(elem_classes="vs-head"):
            gr.HTML(render.heading("results"))
            audio_format = labels.add(
                gr.Radio,
                named("format"),
                choices=[(name.upper() if name != "opus" else "Opus", name) for name in AUDIO_FORMATS],
                value=AUDIO_FORMATS[0],
                elem_id="vs-format",
                elem_classes="vs-seg",
            )
        empty = gr.HTML(render.empty(), elem_id="vs-empty")
        slots = [_slot(labels, index) for index in range(MAX_CANDIDATES)]
    return SpeechPanel(
        text, count, seed, dice, generate, cancel, message, progress, audio_format, empty, slots
    )


def _slot(labels: Labels, index: int) -> Slot:
    with gr.Column(elem_id=f"vs-card-{index + 1}", elem_classes="vs-card"):
        with gr.Row(elem_classes="vs-card-head"):
            facts = gr.HTML(elem_classes="vs-card-facts")
            seed = labels.add(gr.Button, titled("use_seed"), elem_classes="vs-chip-button vs-use-seed")
            download = labels.add(
                gr.DownloadButton, named("save_audio"), elem_classes="vs-chip-button vs-save-audio"
            )
            voice = labels.add(
                gr.DownloadButton, named("save_voice"), elem_classes="vs-chip-button vs-save-voice"
            )
        audio = gr.Audio(
            type="filepath",
            interactive=False,
            show_label=False,
            label=say("card", "en", index=index + 1),
            buttons=[],
            waveform_options=WAVEFORM,
            elem_classes="vs-player",
        )
        keep = keep_bar(labels)
    return Slot(facts, seed, audio, download, voice, keep)


def _picker(labels: Labels, presets: Sequence[Preset], group: str) -> Any:
    members = [preset for preset in presets if preset.group == group]
    return labels.add(
        gr.Radio,
        lambda lang: {
            "label": say(f"group_{group}", lang),
            "choices": [(preset.name.get(lang), preset.id) for preset in members],
        },
        value=None,
        elem_id=f"vs-presets-{group}",
        elem_classes="vs-chips",
    )


def _segments(labels: Labels, name: str, levels: Any) -> Any:
    return labels.add(
        gr.Radio,
        lambda lang: {
            "label": say(name, lang),
            "choices": [
                (say("auto", lang), AUTO),
                *((_upper_first(words[lang == "zh"]), value) for value, words in levels.items()),
            ],
        },
        value=AUTO,
        elem_id=f"vs-{name}",
        elem_classes=["vs-seg", "vs-optional", f"vs-{name}"],
    )


def level_words_of(name: str, controls: Iterable[Controls]) -> dict[float, tuple[str, str]]:
    """The levels of a control with their words, English and Chinese, the lowest first.

    Beside the five there are those that presets ask for, so that nothing is rounded on its way through the page. The
    style sheet shows one of these only while it is chosen.

    Args:
        name: One of `LEVELS`.
        controls: Of the presets.
    """
    words = {level: (names[0], names[1]) for level, names in LEVEL_WORDS[name].items()}
    for value in {each for one in controls if (each := getattr(one, name)) is not None} - words.keys():
        english, chinese = (level_words(name, value, language) for language in ("en", "zh"))
        figure = f"{value:+g}".replace("-", "−")
        # What rounds to one of the five cannot have its name, too.
        is_taken = any(english == names[0] for names in LEVEL_WORDS[name].values())
        words[value] = (figure, figure) if is_taken else (english, chinese)
    return dict(sorted(words.items()))


def _dial(labels: Labels, name: str, low: float, high: float, step: float) -> tuple[Any, Any]:
    resting = getattr(VoiceFields(), name)
    with gr.Row(elem_classes="vs-dial", elem_id=f"vs-{name}-row"):
        auto = labels.add(gr.Checkbox, named("auto"), value=True, elem_id=f"vs-{name}-auto", container=False)
        slider = labels.add(
            gr.Slider,
            named(name),
            minimum=low,
            maximum=high,
            step=step,
            value=resting,
            buttons=[],
            elem_id=f"vs-{name}",
        )
    return auto, slider


def _upper_first(word: str) -> str:
    return word[:1].upper() + word[1:]
