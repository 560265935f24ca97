"""Every error a user can meet, as one tree.

::

    VoiceSculptorError
    ├── InvalidRequest          what was asked cannot be done as asked
    │   ├── EmptyText           nothing in it can be spoken
    │   ├── TextTooLong
    │   ├── UnsupportedControl  unknown control, level or value
    │   ├── UnknownVoice
    │   ├── UnknownRecording
    │   ├── UnknownPreset
    │   ├── InvalidAudio        a recording that cannot be read
    │   └── InvalidVoiceFile
    ├── PresetError             a preset file is wrong (file, field)
    ├── ConfigError             a setting, flag or variable is wrong
    ├── OutputError             a file or folder cannot be written
    ├── LibraryError            the library of kept voices cannot be used
    ├── EngineError
    │   ├── UnknownEngine
    │   ├── WeightsNotFound     with the command that gets them
    │   ├── CheckpointMismatch  the file is damaged or of another model
    │   ├── LoadFailed
    │   ├── SynthesisFailed
    │   ├── RunawayOutput       what was made is not speech
    │   └── MissingDependency   an optional package is needed; with the command
    ├── CapacityError
    │   ├── QueueFull           with retry_after_s
    │   ├── OutOfMemory         with needed_bytes and free_bytes where they are known
    │   ├── DeadlineExceeded    nobody waits for it any more
    │   └── ShuttingDown
    └── Cancelled

Each carries one sentence for the user and what to do about it, in English and Chinese. Skins choose the
language; they never build sentences of their own from an error.
"""

from __future__ import annotations

from typing import ClassVar


class VoiceSculptorError(Exception):
    """Base of every error that is meant for the user.

    Args:
        en: What happened, one English sentence.
        zh: The same in Chinese.
        fix_en: What to do about it, English; may be empty where `en` says it all.
        fix_zh: The same in Chinese.

    Attributes:
        was_counted: Whether it is in the metrics.
    """

    exit_code: ClassVar[int] = 1
    """Exit status of the command line for this kind of error."""

    def __init__(self, en: str, zh: str, *, fix_en: str = "", fix_zh: str = "") -> None:
        super().__init__(en)
        self.en = en
        self.zh = zh
        self.fix_en = fix_en
        self.fix_zh = fix_zh
        self.was_counted = False

    def message(self, language: str = "en") -> str:
        """The sentence and its remedy.

        Args:
            language: `"zh"` for Chinese, anything else for English.
        """
        parts = (self.zh, self.fix_zh) if language == "zh" else (self.en, self.fix_en)
        return ("" if language == "zh" else " ").join(part for part in parts if part)

    @property
    def kind(self) -> str:
        """Stable name of the error, for programs."""
        return type(self).__name__


class InvalidRequest(VoiceSculptorError):
    """What was asked cannot be done as asked."""

    exit_code = 2


class EmptyText(InvalidRequest):
    """Nothing in the text can be spoken."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing to speak in the text.",
            "文本里没有可以朗读的内容。",
            fix_en="Write at least one word, character or number.",
            fix_zh="请至少写一个字、词或数字。",
        )


class TextTooLong(InvalidRequest):
    """The text is over the limit of one request."""

    def __init__(self, num_chars: int, limit: int) -> None:
        super().__init__(
            f"The text has {num_chars:,} characters; one request takes at most {limit:,}.",
            f"文本有 {num_chars:,} 个字符，一次最多 {limit:,} 个。",
            fix_en="Split it into parts, or raise max_text_chars.",
            fix_zh="请分成几段，或调高 max_text_chars。",
        )


class UnsupportedControl(InvalidRequest):
    """A control, a level or a value that does not exist."""


class UnknownVoice(InvalidRequest):
    """No voice of that name or file."""

    exit_code = 3


class UnknownRecording(InvalidRequest):
    """No clip of that digest in the library."""

    exit_code = 3


class UnknownPreset(InvalidRequest):
    """No preset of that name."""

    exit_code = 3


class InvalidAudio(InvalidRequest):
    """A recording that is damaged, too long or of an unknown format."""


class InvalidVoiceFile(InvalidRequest):
    """A voice file that is damaged, or from another version or engine."""


class PresetError(VoiceSculptorError):
    """A preset file is wrong; the sentence names file and field."""

    exit_code = 2


class ConfigError(VoiceSculptorError):
    """A setting is wrong; the sentence names it and the valid values."""

    exit_code = 2


class OutputError(VoiceSculptorError):
    """A result cannot be written."""

    exit_code = 4


class LibraryError(VoiceSculptorError):
    """The library of kept voices cannot be opened, read or written."""

    exit_code = 4


class EngineError(VoiceSculptorError):
    """An engine cannot do its work."""

    exit_code = 5


class UnknownEngine(EngineError):
    """No engine of that id."""

    exit_code = 3


class WeightsNotFound(EngineError):
    """Model weights are missing; the remedy is the command that gets them."""


class CheckpointMismatch(EngineError):
    """Model weights are damaged or belong to another model."""


class LoadFailed(EngineError):
    """An engine could not be loaded onto its device."""


class SynthesisFailed(EngineError):
    """An engine broke while it spoke."""


class RunawayOutput(EngineError):
    """What an engine made is not speech, and was not when it tried again.

    Args:
        fault_en: What is wrong with it, in English.
        fault_zh: The same in Chinese.
    """

    def __init__(self, fault_en: str, fault_zh: str) -> None:
        super().__init__(
            f"The model did not speak this text: {fault_en}.",
            f"模型未能正常读出这段文本：{fault_zh}。",
            fix_en="Try another seed, a plainer description or a shorter text.",
            fix_zh="请换一个种子、更简单的描述，或缩短文本。",
        )


class MissingDependency(EngineError):
    """An optional package is needed; the remedy is the command that installs it."""


class CapacityError(VoiceSculptorError):
    """The machine cannot take this now."""

    exit_code = 6


class QueueFull(CapacityError):
    """More requests wait than the queue holds.

    Args:
        num_waiting: Requests waiting now.
        retry_after_s: Estimated seconds until a place is free.
    """

    def __init__(self, num_waiting: int, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        seconds = max(1, round(retry_after_s))
        super().__init__(
            f"The studio is busy: {num_waiting} requests are waiting.",
            f"工作室正忙：前面还有 {num_waiting} 个请求。",
            fix_en=f"Try again in about {seconds} s.",
            fix_zh=f"请约 {seconds} 秒后再试。",
        )


class OutOfMemory(CapacityError):
    """The device has too little memory left.

    Args:
        en: As of every error.
        zh: As of every error.
        fix_en: As of every error.
        fix_zh: As of every error.
        needed_bytes: What was asked for; `None` where it is not known.
        free_bytes: What there was.
    """

    def __init__(
        self,
        en: str,
        zh: str,
        *,
        fix_en: str = "",
        fix_zh: str = "",
        needed_bytes: int | None = None,
        free_bytes: int | None = None,
    ) -> None:
        super().__init__(en, zh, fix_en=fix_en, fix_zh=fix_zh)
        self.needed_bytes = needed_bytes
        self.free_bytes = free_bytes


class DeadlineExceeded(CapacityError):
    """The request's time was over before it was done."""

    def __init__(self) -> None:
        super().__init__(
            "The time given to this request is over.",
            "此请求的时限已到。",
            fix_en="Give it more time, shorten the text, or try again when the studio is less busy.",
            fix_zh="请延长时限、缩短文本，或等工作室空闲些再试。",
        )


class ShuttingDown(CapacityError):
    """The studio is closing and takes no new work."""

    def __init__(self) -> None:
        super().__init__(
            "The studio is shutting down and takes no new requests.",
            "工作室正在关闭，不再接收新请求。",
            fix_en="Start it again and repeat the request.",
            fix_zh="请重新启动后再试。",
        )


class Cancelled(VoiceSculptorError):
    """The request was cancelled by whoever made it."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Cancelled.", "已取消。")
