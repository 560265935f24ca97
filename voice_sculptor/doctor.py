"""A close look at an engine on this machine: weights, loading, memory, speed, and each control's levels.

What it yields is Markdown, one block after the other, made to be pasted into a report of a fault. It names no folder
above a checkpoint's and nothing of the user's.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voice_sculptor import __version__, device
from voice_sculptor.config import Settings
from voice_sculptor.controls import (
    CONTROL_NAMES,
    EMOTIONS,
    GENDER_WORDS,
    LEVEL_WORDS,
    Controls,
    Emotion,
    label,
)
from voice_sculptor.domain import VoiceSpec
from voice_sculptor.engines.registry import create_engine
from voice_sculptor.errors import VoiceSculptorError
from voice_sculptor.events import Failed, Ready
from voice_sculptor.obedience import UNITS
from voice_sculptor.scheduling.memory import choose, memory_snapshot, peak_bytes
from voice_sculptor.scheduling.worker import Loading
from voice_sculptor.studio import Studio

if TYPE_CHECKING:
    from voice_sculptor.domain import Candidate
    from voice_sculptor.engines.base import EngineInfo
    from voice_sculptor.obedience import Check

_TEXTS = {
    "zh": "今天天气很好，我们一起去公园散步，好吗？",
    "en": "The weather is fine today. Shall we take a walk in the park?",
}
_STRONG = 0.8
_SEED = 1

Say = Callable[[str, float], None]
"""Shows what is being done and how far, 0–1."""


@dataclass
class Diagnosis:
    """One look at one engine.

    Attributes:
        settings: Which engine, where its weights are, on which device.
        language: Of the report, `"zh"` or `"en"`.
        is_quick: Speak one text only, not every level of every control.
        faults: What was wrong, as far as it has come.
    """

    settings: Settings
    engine_id: str
    language: str = "en"
    is_quick: bool = False
    faults: list[VoiceSculptorError] = field(default_factory=list)

    def run(self, say: Say) -> Iterator[str]:
        """Look, load, speak.

        Args:
            say: Told what is being done.

        Yields:
            Blocks of the report. After the last, `faults` is complete.
        """
        engine = create_engine(self.engine_id, self.settings)
        info = engine.info
        yield f"# {info.title}"
        yield self._machine(info)
        dtype = None if self.settings.dtype == "auto" else self.settings.dtype
        try:
            where = choose(self.settings.device, info.memory_estimate_bytes)
            findings = list(engine.examine(where, dtype))
        except VoiceSculptorError as error:
            yield self._fault(error)
            return
        self.faults += [finding.error for finding in findings if finding.error is not None]
        yield self._heading("Weights", "权重") + "\n".join(
            f"- {'✗' if each.error else '✓'} {self._pick(each.en, each.zh)}: "
            f"{each.error.message(self.language) if each.error else each.detail}"
            for each in findings
        )
        if self.faults:
            return
        # What is only tried out is nobody's history.
        with Studio(self.settings.model_copy(update={"history_bytes": 0}), engine) as studio:
            yield from self._spoken(studio, say)

    def _machine(self, info: EngineInfo) -> str:
        from importlib.metadata import PackageNotFoundError, version

        packages = []
        for name in ("torch", "transformers", "numpy", "gradio"):
            try:
                packages.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                continue
        cards = ", ".join(f"{gpu.name} {gpu.total_bytes / 1e9:.0f} GB" for gpu in device.gpus())
        memory = memory_snapshot(self.settings.device)
        return self._heading("Machine", "机器") + "\n".join(
            (
                f"- Voice Sculptor {__version__}, Python {platform.python_version()}, {platform.platform()}",
                f"- {', '.join(packages)}",
                f"- {device.cpu_name()}; {cards or self._pick('no graphics card', '没有显卡')}",
                f"- {self._pick('Memory', '内存')} ({memory.kind}): {memory.used_bytes / 1e9:.1f} / "
                f"{memory.total_bytes / 1e9:.1f} GB",
                f"- {self._pick('Licence of the weights', '权重许可')}: {info.weights_licence}",
            )
        )

    def _spoken(self, studio: Studio, say: Say) -> Iterator[str]:
        info = studio.engine.info
        loading = self._pick("Loading the engine", "正在加载引擎")
        before = memory_snapshot(self.settings.device).process_bytes
        began = time.perf_counter()
        plain = self._one(studio, Controls(), lambda fraction: say(loading, fraction))
        whole_s = time.perf_counter() - began
        if isinstance(plain, VoiceSculptorError):
            yield self._fault(plain)
            return
        memory = memory_snapshot(studio.worker.device)
        yield self._heading("Loaded", "加载") + "\n".join(
            (
                f"- {self._pick('Device', '设备')}: {studio.worker.device} ({memory.device_name})",
                f"- {self._pick('Loading and the first sound', '加载并首次出声')}: {whole_s:.1f} s",
                f"- {self._pick('Memory taken', '占用内存')}: {(memory.process_bytes - before) / 1e9:.2f} GB, "
                f"{self._pick('estimated', '估计')} {info.memory_estimate_bytes / 1e9:.2f} GB",
            )
        )
        rows = [self._row("", "", plain, info)]
        cases = [] if self.is_quick else list(_levels(info))
        for number, (name, controls) in enumerate(cases):
            shown = label(name, getattr(controls, name), self.language)
            say(f"{name} = {shown}", number / len(cases))
            made = self._one(studio, controls, lambda _fraction: None)
            if isinstance(made, VoiceSculptorError):
                self.faults.append(made)
                rows.append((name, shown, "✗", made.message(self.language), "", "", ""))
            else:
                rows.append(self._row(name, shown, made, info))
        headings = ("control", "asked", "met", "measured", "audio, s", "RTF", "tokens/s")
        lines = (headings, ("---",) * len(headings), *rows)
        yield self._heading("Spoken", "试听") + "\n".join(
            f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines
        )
        figures = [
            f"{self._pick('Peak memory', '内存峰值')}: {peak_bytes(studio.worker.device) / 1e9:.2f} GB"
        ]
        if judged := [row[2] for row in rows if row[2] in ("✓", "✗")]:
            figures.insert(
                0, f"{self._pick('Controls met', '控制项达标')}: {judged.count('✓')} / {len(judged)}"
            )
        yield "\n".join(f"- {line}" for line in figures)

    def _one(
        self, studio: Studio, controls: Controls, loading: Callable[[float], None]
    ) -> Candidate | VoiceSculptorError:
        text = _TEXTS["zh" if "zh" in studio.engine.info.languages else "en"]
        try:
            for event in studio.design(text, VoiceSpec(controls=controls), num_candidates=1, seed=_SEED):
                if isinstance(event, Loading):
                    loading(event.fraction)
                elif isinstance(event, Ready):
                    return event.candidate
                elif isinstance(event, Failed):
                    return event.error
        except VoiceSculptorError as error:
            return error
        raise RuntimeError("the studio ended without a candidate")

    def _row(self, name: str, asked: str, made: Candidate, info: EngineInfo) -> tuple[str, ...]:
        check = next((each for each in made.obedience.checks if each.control == name), None)
        return (
            name or self._pick("nothing", "无"),
            asked,
            "" if check is None or check.is_met is None else "✓" if check.is_met else "✗",
            _measured(check) if check else "",
            f"{made.audio.duration_s:.2f}",
            f"{made.rtf:.2f}",
            f"{info.codec_frame_rate / made.rtf:.0f}" if made.rtf > 0 else "",
        )

    def _fault(self, error: VoiceSculptorError) -> str:
        self.faults.append(error)
        return f"✗ {error.message(self.language)}"

    def _heading(self, en: str, zh: str) -> str:
        return f"## {self._pick(en, zh)}\n\n"

    def _pick(self, en: str, zh: str) -> str:
        return zh if self.language == "zh" else en


def _measured(check: Check) -> str:
    cues = []
    for cue in check.cues:
        band = f"{cue.low:.3g} – {cue.high:.3g}"
        cues.append(f"{cue.measure} {cue.measured:.3g} {UNITS[cue.measure]} ({band})".replace("  ", " "))
    return "; ".join(cues)


def _levels(info: EngineInfo) -> Iterator[tuple[str, Controls]]:
    """Every level of every control that the engine follows."""
    for name in CONTROL_NAMES:
        if name not in info.capabilities.controls:
            continue
        values: list[object] = list(LEVEL_WORDS.get(name, ()))
        if name == "gender":
            values = list(GENDER_WORDS)
        elif name == "emotion":
            values = [Emotion(name=emotion, intensity=_STRONG) for emotion in EMOTIONS]
        for value in values:
            yield name, Controls.model_validate({name: value})
