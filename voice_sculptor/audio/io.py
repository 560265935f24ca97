"""Audio in and out: encode, write, decode, resample. The same samples always give the same bytes.

| format | content | rate |
|---|---|---|
| wav | 16-bit PCM, true length in the header | 16 bits a sample |
| flac | 16-bit PCM, lossless | about half of that |
| mp3 | constant bit rate | 128 kb/s; 64 kb/s below 16 kHz |
| opus | in Ogg, variable bit rate | about 64 kb/s |
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voice_sculptor.audio.containers import TAG_NAMES, id3_tag, with_fixed_serial
from voice_sculptor.audio.files import write_bytes as write_bytes
from voice_sculptor.domain import AudioClip, AudioFormat
from voice_sculptor.errors import InvalidAudio, OutputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Container:
    """A kind of audio file.

    Attributes:
        suffix: Of its name.
        mime_type: As in `Content-Type`.
        sndfile: What libsndfile is told to write it.
        sample_rates: Rates it can carry, Hz, ascending; empty for any.
    """

    suffix: str
    mime_type: str
    sndfile: Mapping[str, Any]
    sample_rates: tuple[int, ...] = ()

    def rate_for(self, sample_rate: int) -> int:
        """The rate to write audio of another in: the same, or the next it can carry."""
        if not self.sample_rates or sample_rate in self.sample_rates:
            return sample_rate
        return next((rate for rate in self.sample_rates if rate > sample_rate), self.sample_rates[-1])


_CONTAINERS: dict[AudioFormat, Container] = {
    "wav": Container(".wav", "audio/wav", {"format": "WAV", "subtype": "PCM_16"}),
    "mp3": Container(
        ".mp3",
        "audio/mpeg",
        {"format": "MP3", "subtype": "MPEG_LAYER_III", "bitrate_mode": "CONSTANT"},
        (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000),
    ),
    "flac": Container(".flac", "audio/flac", {"format": "FLAC", "subtype": "PCM_16"}),
    "opus": Container(
        ".opus",
        "audio/ogg; codecs=opus",
        # libsndfile maps 0…1 to 256…6 kb/s.
        {"format": "OGG", "subtype": "OPUS", "compression_level": (256 - 64) / (256 - 6)},
        (8000, 12000, 16000, 24000, 48000),
    ),
}
MIME_TYPES: dict[AudioFormat, str] = {name: each.mime_type for name, each in _CONTAINERS.items()}
SUFFIXES: dict[AudioFormat, str] = {name: each.suffix for name, each in _CONTAINERS.items()}

_FORMAT_OF_SUFFIX: dict[str, AudioFormat] = {each.suffix: name for name, each in _CONTAINERS.items()}
_FORMAT_OF_SUFFIX[".ogg"] = "opus"

_MP3_KBPS = 128
# libsndfile maps compression levels 0…1 to these, by the MPEG version of the sample rate: from (Hz), kb/s, kb/s.
_MP3_RANGES_KBPS = ((32000, 320, 32), (16000, 160, 8), (0, 64, 8))

MAX_DECODE_S = 3600.0
_MAX_DECODE_BYTES = 1_500_000_000
_MAX_DECODE_SAMPLES = 3600 * 48_000
_DECODE_RATES_HZ = (4_000, 768_000)
_BLOCK_FRAMES = 65_536
MAX_TAG_BYTES = 30_000
"""What the first page of an Ogg stream surely takes."""


def encode(clip: AudioClip, format: AudioFormat, tags: Mapping[str, str] | None = None) -> bytes:
    """A clip as the bytes of a file.

    Samples beyond ±1 are clipped to full scale. No dither: equal samples give equal bytes, and 16-bit audio passes
    through WAV and FLAC unchanged. MP3 and Opus resample to the next rate they know.

    Args:
        clip: At least one sample.
        format: `wav`, `mp3`, `flac` or `opus`.
        tags: Text by name, names out of `containers.TAG_NAMES`, together at most `MAX_TAG_BYTES` in UTF-8. (libsndfile
            writes all of them into WAV, but reads back no more than about 4,000 bytes there.)

    Raises:
        OutputError: The clip is empty or holds NaN or infinity, or the tags are too long.
        ValueError: Unknown tag name or format.
    """
    import soundfile as sf

    tags = dict(tags or {})
    if unknown := tags.keys() - set(TAG_NAMES):
        raise ValueError(f"unknown tags {sorted(unknown)}; known are {', '.join(TAG_NAMES)}")
    container = container_of(format)
    _check_writable(clip.samples, tags)
    clip = resample(clip, container.rate_for(clip.sample_rate))
    options = sndfile_options(format, clip.sample_rate)
    buffer = io.BytesIO()
    with sf.SoundFile(buffer, "w", samplerate=clip.sample_rate, channels=1, **options) as file:
        if format != "mp3":
            for name, text in tags.items():
                setattr(file, name, text)
        file.write(to_int16(clip.samples))
    data = buffer.getvalue()
    if format == "mp3":
        return id3_tag(tags) + data
    return with_fixed_serial(data) if format == "opus" else data


def container_of(format: AudioFormat) -> Container:
    """The kind of file of a format's name.

    Raises:
        ValueError: Unknown format.
    """
    if format not in _CONTAINERS:
        raise ValueError(f"unknown format {format!r}; known are {', '.join(_CONTAINERS)}")
    return _CONTAINERS[format]


def sndfile_options(format: AudioFormat, sample_rate: int) -> dict[str, Any]:
    """What libsndfile is told to write a format at a rate the format can carry, Hz."""
    options = dict(_CONTAINERS[format].sndfile)
    if format == "mp3":
        high, low = next((hi, lo) for least, hi, lo in _MP3_RANGES_KBPS if sample_rate >= least)
        options["compression_level"] = max(0.0, (high - _MP3_KBPS) / (high - low))
    return options


def format_of(path: Path) -> AudioFormat:
    """The format that a file name's suffix asks for.

    Raises:
        OutputError: No or unknown suffix; the sentence names the valid ones.
    """
    try:
        return _FORMAT_OF_SUFFIX[path.suffix.lower()]
    except KeyError:
        known = ", ".join(_FORMAT_OF_SUFFIX)
        raise OutputError(
            f"The file name {path.name!r} does not end in an audio suffix.",
            f"文件名 {path.name!r} 没有可用的音频扩展名。",
            fix_en=f"End it in one of {known}.",
            fix_zh=f"请使用以下扩展名之一：{known}。",
        ) from None


def write(
    clip: AudioClip, path: Path, format: AudioFormat | None = None, tags: Mapping[str, str] | None = None
) -> None:
    """Write a clip to a file, whole or not at all; parent folders are made.

    Args:
        clip: As for `encode`.
        path: An existing file is replaced.
        format: `None` takes it from the suffix.
        tags: As for `encode`.

    Raises:
        OutputError: The file cannot be written, the clip cannot be encoded, or the suffix is unknown.
    """
    write_bytes(encode(clip, format or format_of(path), tags), path)


def decode(source: Path | str | bytes, max_duration_s: float = MAX_DECODE_S) -> AudioClip:
    """Read any audio file libsndfile knows, mixed down to mono, clipped to ±1.

    Args:
        source: A path, or the content of a file.
        max_duration_s: Longest accepted, seconds.

    Returns:
        float32 `[num_samples]` at the file's own sample rate, at least one sample.

    Raises:
        InvalidAudio: Missing, empty, no audio, too long or large, of an odd rate, or NaN or infinity in it.
    """
    import soundfile as sf

    name = "" if isinstance(source, bytes) else Path(source).name
    try:
        data = source if isinstance(source, bytes) else _content(Path(source))
        with sf.SoundFile(io.BytesIO(data)) as file:
            sample_rate: int = file.samplerate
            low_hz, high_hz = _DECODE_RATES_HZ
            if not low_hz <= sample_rate <= high_hz:
                raise _unreadable(name, f"has an odd rate, {sample_rate} Hz", f"采样率异常：{sample_rate} Hz")
            # A header may claim any length: read at most one sample more than is accepted.
            limit = min(int(max_duration_s * sample_rate), _MAX_DECODE_SAMPLES)
            samples = _mono(file, limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise _unreadable(name, f"cannot be read ({reason})", f"无法读取（{reason}）") from error
    except (sf.LibsndfileError, TypeError) as error:
        raise _unreadable(name, "is damaged or not an audio file", "已损坏或不是音频文件") from error
    if len(samples) == 0:
        raise _unreadable(name, "holds no audio", "没有声音内容")
    if len(samples) > limit:
        most_s = limit / sample_rate
        raise _unreadable(name, f"is longer than {most_s:g} seconds", f"超过了 {most_s:g} 秒")
    if not np.isfinite(samples).all():
        raise _unreadable(name, "holds invalid samples (NaN or infinity)", "含有无效采样（NaN 或无穷大）")
    return AudioClip(np.clip(samples, -1.0, 1.0), sample_rate)


def _content(path: Path) -> bytes:
    """A file whole; of one that has no end, such as a device, no more than is accepted."""
    with path.open("rb") as file:
        data = file.read(_MAX_DECODE_BYTES + 1)
    if len(data) > _MAX_DECODE_BYTES:
        most = f"{_MAX_DECODE_BYTES / 1e9:g} GB"
        raise _unreadable(path.name, f"is larger than {most}", f"大于 {most}")
    return data


def _mono(file: Any, most: int) -> NDArray[np.float32]:
    """The mean of the channels, a block at a time: a small file can hold very many of them."""
    blocks: list[NDArray[np.float32]] = []
    left = most
    while left > 0:
        block = file.read(min(left, _BLOCK_FRAMES), dtype="float32", always_2d=True)
        if len(block) == 0:
            break
        blocks.append(block.mean(axis=1, dtype=np.float32))
        left -= len(block)
    return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)


def resample(clip: AudioClip, sample_rate: int) -> AudioClip:
    """The clip at another sample rate, clipped to ±1; the same clip where the rate is its own already.

    Args:
        clip: Any.
        sample_rate: Hz, above 0.
    """
    if sample_rate == clip.sample_rate:
        return clip
    import soxr

    samples = soxr.resample(np.asarray(clip.samples, np.float32), clip.sample_rate, sample_rate)
    return AudioClip(np.clip(samples, -1.0, 1.0), sample_rate)


def to_int16(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    """Samples as 16-bit integers, those beyond ±1 at full scale."""
    pcm: NDArray[np.int16] = np.clip(np.rint(samples * np.float32(32768.0)), -32768, 32767).astype(np.int16)
    return pcm


def _check_writable(samples: NDArray[np.float32], tags: Mapping[str, str]) -> None:
    if len(samples) == 0:
        raise OutputError(
            "There is no audio to write.",
            "没有可写入的声音。",
            fix_en="Speak the text again.",
            fix_zh="请重新合成。",
        )
    if not np.isfinite(samples).all():
        raise OutputError(
            "The audio holds invalid samples and was not written.",
            "音频含有无效采样，未写入。",
            fix_en="Speak the text again with another seed.",
            fix_zh="请换一个种子重新合成。",
        )
    if sum(len(text.encode()) for text in tags.values()) > MAX_TAG_BYTES:
        raise OutputError(
            f"The tags for the audio file are longer than {MAX_TAG_BYTES:,} bytes.",
            f"音频文件的标签超过 {MAX_TAG_BYTES:,} 字节。",
            fix_en="Shorten them.",
            fix_zh="请缩短标签。",
        )


def _unreadable(name: str, why_en: str, why_zh: str) -> InvalidAudio:
    return InvalidAudio(
        f"The audio file {name} {why_en}." if name else f"The audio {why_en}.",
        f"音频文件 {name} {why_zh}。" if name else f"音频文件{why_zh}。",
        fix_en="Give a WAV, FLAC, MP3 or Ogg file with sound in it.",
        fix_zh="请提供有声音的 WAV、FLAC、MP3 或 Ogg 文件。",
    )
