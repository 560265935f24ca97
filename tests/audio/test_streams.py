"""Audio encoded while it is made: one valid stream, as long as what went in."""

from __future__ import annotations

import io
import struct
from itertools import pairwise

import numpy as np
import pytest
import soundfile as sf

from voice_sculptor.audio.io import decode
from voice_sculptor.audio.streams import PCM_RATE, StreamEncoder, StreamFormat
from voice_sculptor.errors import OutputError

RATE = 24_000
FORMATS: tuple[StreamFormat, ...] = ("wav", "mp3", "opus")


def tone(duration_s: float, rate: int = RATE, f0_hz: float = 220.0) -> np.ndarray:
    return (0.3 * np.sin(2 * np.pi * f0_hz * np.arange(round(duration_s * rate)) / rate)).astype(np.float32)


def streamed(format: StreamFormat, samples: np.ndarray, rate: int = RATE, piece: int = 5_000) -> list[bytes]:
    encoder = StreamEncoder(format, rate)
    edges = [*range(0, len(samples), piece), len(samples)]
    return [*(encoder.add(samples[a:b]) for a, b in pairwise(edges)), encoder.finish()]


def f0_hz(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(spectrum.argmax() * rate / len(samples))


@pytest.mark.parametrize("rate", [16_000, 24_000, 44_100])
@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_is_whole_and_of_the_length_that_went_in(format: StreamFormat, rate: int) -> None:
    data = b"".join(streamed(format, tone(3.0, rate), rate))
    clip = decode(data)
    # MP3 brings the delay of its filters and fills its last frame.
    assert clip.duration_s == pytest.approx(3.0, abs=0.15 if format == "mp3" else 0.03)
    assert f0_hz(clip.samples[: 2 * clip.sample_rate], clip.sample_rate) == pytest.approx(220.0, abs=1.0)
    assert np.abs(clip.samples).max() == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("format", FORMATS)
def test_it_flows_while_it_is_made(format: StreamFormat) -> None:
    pieces = streamed(format, tone(10.0))
    half = sum(map(len, pieces[: len(pieces) // 2]))
    assert 0.35 < half / sum(map(len, pieces)) < 0.65


def test_a_lossless_stream_holds_the_very_samples() -> None:
    samples = tone(1.0)
    out, _ = sf.read(io.BytesIO(b"".join(streamed("wav", samples))), dtype="int16")
    assert np.array_equal(out, np.rint(samples * 32768).astype(np.int16))


def test_the_wav_header_claims_nothing() -> None:
    data = b"".join(streamed("wav", tone(1.0)))
    assert struct.unpack("<I", data[4:8]) == (8,)
    assert data[36:44] == b"data" + bytes(4)
    assert len(data) == 44 + 2 * RATE


def test_bare_samples_are_at_their_rate() -> None:
    data = b"".join(streamed("pcm", tone(2.0, 16_000), 16_000))
    samples = np.frombuffer(data, "<i2").astype(np.float32) / 32768
    assert len(samples) / PCM_RATE == pytest.approx(2.0, abs=0.01)
    assert f0_hz(samples, PCM_RATE) == pytest.approx(220.0, abs=1.0)


def test_one_opus_stream_not_several() -> None:
    data = b"".join(streamed("opus", tone(5.0)))
    assert data.count(b"OpusHead") == 1
    assert len({data[i + 14 : i + 18] for i in range(len(data)) if data[i : i + 4] == b"OggS"}) == 1


@pytest.mark.parametrize("format", [*FORMATS, "pcm"])
def test_invalid_samples_are_refused(format: StreamFormat) -> None:
    encoder = StreamEncoder(format, RATE)
    with pytest.raises(OutputError):
        encoder.add(np.array([0.0, np.nan], np.float32))
    encoder.close()


@pytest.mark.parametrize("format", FORMATS)
def test_leaving_off_midway_is_clean(format: StreamFormat) -> None:
    encoder = StreamEncoder(format, RATE)
    encoder.add(tone(0.5))
    encoder.close()
