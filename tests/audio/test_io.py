"""Files: what goes in comes out, equal in gives equal out, and nothing is half-written."""

from __future__ import annotations

import errno
import io
import os
import resource
import struct
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from voice_sculptor.audio import containers
from voice_sculptor.audio import io as audio_io
from voice_sculptor.domain import AUDIO_FORMATS, AudioClip, AudioFormat
from voice_sculptor.errors import InvalidAudio, InvalidRequest, OutputError

RATE = 24_000
LOSSLESS: tuple[AudioFormat, ...] = ("wav", "flac")


def tone(duration_s: float = 1.0, sample_rate: int = RATE, amplitude: float = 0.5) -> AudioClip:
    t = np.arange(round(duration_s * sample_rate)) / sample_rate
    return AudioClip((amplitude * np.sin(2 * np.pi * 440 * t)).astype(np.float32), sample_rate)


@given(hnp.arrays(np.int16, st.integers(1, 3000)), st.sampled_from([8000, 16_000, 24_000, 44_100, 48_000]))
@settings(max_examples=30, deadline=None)
def test_sixteen_bit_audio_passes_through_unchanged(pcm: np.ndarray, sample_rate: int) -> None:
    clip = AudioClip(pcm.astype(np.float32) / 32768, sample_rate)
    for format in LOSSLESS:
        back = audio_io.decode(audio_io.encode(clip, format))
        assert back.sample_rate == sample_rate
        assert back.samples.dtype == np.float32
        np.testing.assert_array_equal(back.samples, clip.samples)


@given(
    hnp.arrays(np.float32, st.integers(1, 2000), elements=st.floats(-4, 4, width=32)),
)
@settings(max_examples=40, deadline=None)
def test_any_samples_come_back_within_half_a_step_and_clipped(samples: np.ndarray) -> None:
    back = audio_io.decode(audio_io.encode(AudioClip(samples, RATE), "wav")).samples
    wanted = np.clip(samples, -1, 32767 / 32768)
    assert np.abs(back - wanted).max() <= 0.5 / 32768 + 1e-7


def test_wav_header_tells_the_true_length() -> None:
    data = audio_io.encode(tone(0.5), "wav")
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        assert file.getnframes() == RATE // 2
    assert struct.unpack("<I", data[4:8])[0] == len(data) - 8


@pytest.mark.parametrize("format", ["mp3", "opus"])
@pytest.mark.parametrize("sample_rate", [8000, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000])
def test_lossy_formats_keep_length_and_sound_at_any_rate(format: AudioFormat, sample_rate: int) -> None:
    clip = tone(0.7, sample_rate)
    back = audio_io.decode(audio_io.encode(clip, format))
    assert back.duration_s == pytest.approx(clip.duration_s, abs=1e-4)
    same_rate = audio_io.resample(clip, back.sample_rate).samples[: len(back.samples)]
    middle = slice(len(same_rate) // 5, -len(same_rate) // 5)
    assert np.corrcoef(same_rate[middle], back.samples[: len(same_rate)][middle])[0, 1] > 0.99


@pytest.mark.parametrize(("sample_rate", "kbps"), [(24_000, 128), (48_000, 128), (8000, 64)])
def test_mp3_has_the_promised_bit_rate(sample_rate: int, kbps: int) -> None:
    data = audio_io.encode(tone(10, sample_rate), "mp3")
    assert len(data) * 8 / 10 / 1000 == pytest.approx(kbps, rel=0.03)


@pytest.mark.parametrize("format", AUDIO_FORMATS)
def test_equal_samples_give_equal_bytes(format: AudioFormat) -> None:
    tags = {"title": "晨雾", "software": "voice-sculptor"}
    assert audio_io.encode(tone(), format, tags) == audio_io.encode(tone(), format, tags)


def test_opus_pages_keep_valid_checksums() -> None:
    buffer = io.BytesIO()
    with sf.SoundFile(buffer, "w", RATE, 1, format="OGG", subtype="OPUS") as file:
        file.write(tone(3).samples)
    original = buffer.getvalue()
    changed = containers.with_fixed_serial(original)
    assert changed != original
    assert changed[14:18] == b"VScu"
    # Putting the first serial number back must give the first checksums back: libsndfile's own are the oracle.
    serial = containers._OGG_SERIAL
    containers._OGG_SERIAL = original[14:18]
    try:
        assert containers.with_fixed_serial(changed) == original
    finally:
        containers._OGG_SERIAL = serial


@pytest.mark.parametrize("format", AUDIO_FORMATS)
def test_tags_survive_in_any_script(format: AudioFormat) -> None:
    tags = {"title": "晨雾 – Ünïcode", "artist": "工作室", "comment": '{"seed": 7}', "copyright": "CC0"}
    with sf.SoundFile(io.BytesIO(audio_io.encode(tone(0.2), format, tags))) as file:
        read = file.copy_metadata()
    assert {name: read[name] for name in tags} == tags


@pytest.mark.parametrize("format", AUDIO_FORMATS)
def test_long_tags_are_written_and_longer_ones_refused(format: AudioFormat) -> None:
    long = "x" * audio_io.MAX_TAG_BYTES
    data = audio_io.encode(tone(0.2), format, {"comment": long})
    assert long.encode()[:4000] in data
    assert audio_io.decode(data).duration_s == pytest.approx(0.2)
    with pytest.raises(OutputError, match="tags"):
        audio_io.encode(tone(0.2), format, {"comment": long, "title": "y"})


def test_unknown_tag_and_format_are_named() -> None:
    with pytest.raises(ValueError, match="mood"):
        audio_io.encode(tone(0.1), "wav", {"mood": "x"})
    with pytest.raises(ValueError, match="aiff"):
        audio_io.encode(tone(0.1), "aiff")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [[], [np.nan], [0.0, np.inf]])
def test_nothing_or_nonsense_is_not_encoded(bad: list[float]) -> None:
    with pytest.raises(OutputError) as caught:
        audio_io.encode(AudioClip(np.array(bad, np.float32), RATE), "wav")
    assert caught.value.zh
    assert caught.value.fix_en


@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.flac", "a.opus", "a.ogg", "声音 (1).WAV"])
def test_write_takes_the_format_from_the_suffix_and_makes_folders(tmp_path: Path, name: str) -> None:
    path = tmp_path / "new" / "deeper" / name
    audio_io.write(tone(0.2), path)
    assert path.read_bytes() == audio_io.encode(tone(0.2), audio_io.format_of(path))
    assert [each.name for each in path.parent.iterdir()] == [name]


def test_written_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        audio_io.write(tone(0.1), tmp_path / "a.wav")
    finally:
        os.umask(before)
    assert (tmp_path / "a.wav").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["a", "a.txt", "a.wav.bak"])
def test_an_unknown_suffix_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="suffix") as caught:
        audio_io.write(tone(0.1), tmp_path / name)
    assert ".opus" in caught.value.fix_en
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_a_file_in_the_way_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="is a folder"):
        audio_io.write(tone(0.1), tmp_path / "folder.wav")
    with pytest.raises(OutputError, match="below a file"):
        audio_io.write(tone(0.1), tmp_path / "file" / "a.wav")
    with pytest.raises(OutputError, match="too long"):
        audio_io.write(tone(0.1), tmp_path / f"{'x' * 300}.wav")


def test_a_write_that_hits_a_limit_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    audio_io.write(tone(0.1), path)
    old = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OutputError, match="does not fit"):
            audio_io.write(tone(2.0), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "disk is full"), (errno.EACCES, "may not be written"), (errno.EIO, "cannot be written")],
)
def test_system_errors_become_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=words) as caught:
        audio_io.write(tone(0.1), tmp_path / "a.wav")
    assert caught.value.zh
    assert caught.value.fix_zh
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def nobody() -> Iterator[None]:
    """Root may write anywhere: a test that is run by root is somebody else for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)


def test_an_unwritable_folder_is_said(tmp_path: Path, nobody: None) -> None:
    if os.geteuid() != 65534:
        tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="may not be written"):
        audio_io.write(tone(0.1), tmp_path / "a.wav")


def test_stereo_is_mixed_and_foreign_formats_are_read(tmp_path: Path) -> None:
    left, right = tone(0.1, 8000).samples, np.zeros(800, np.float32)
    path = tmp_path / "upload.wav"
    sf.write(path, np.stack([left, right], 1), 8000, subtype="PCM_24")
    for source in (path, str(path), path.read_bytes()):
        clip = audio_io.decode(source)
        assert clip.sample_rate == 8000
        np.testing.assert_allclose(clip.samples, left / 2, atol=1e-6)


def float_wav(samples: list[float]) -> bytes:
    buffer = io.BytesIO()
    sf.write(buffer, np.array(samples, np.float32), RATE, format="WAV", subtype="FLOAT")
    return buffer.getvalue()


def test_decoded_samples_stay_within_full_scale() -> None:
    np.testing.assert_array_equal(audio_io.decode(float_wav([0.5, 3.0, -9.0])).samples, [0.5, 1.0, -1.0])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not an audio file"),
        (b"this is only text\n" * 50, "not an audio file"),
        (audio_io.encode(tone(0.1), "flac")[:60], "audio"),
        (float_wav([]), "no audio"),
        (float_wav([0.0, float("nan")]), "invalid samples"),
        (float_wav([0.0, float("inf")]), "invalid samples"),
    ],
    ids=["empty", "text", "cut", "no-samples", "nan", "inf"],
)
def test_bad_uploads_are_refused_in_words(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "upload.wav"
    path.write_bytes(data)
    for source in (data, path):
        with pytest.raises(InvalidRequest, match=words) as caught:
            audio_io.decode(source)
        assert caught.value.fix_en
        assert "音频文件" in caught.value.message("zh")


def test_missing_files_folders_and_raw_suffixes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "noise.raw").write_bytes(b"\x00\x01" * 500)
    for path in (tmp_path / "none.wav", tmp_path, tmp_path / "noise.raw"):
        with pytest.raises(InvalidRequest):
            audio_io.decode(path)


def test_too_long_is_refused_whatever_the_header_says() -> None:
    data = audio_io.encode(tone(1.0), "wav")
    assert audio_io.decode(data, max_duration_s=1.0).duration_s == 1.0
    with pytest.raises(InvalidRequest, match=r"longer than 0\.5 seconds"):
        audio_io.decode(data, max_duration_s=0.5)
    streamed = data[:40] + b"\xff\xff\xff\xff" + data[44:]
    assert audio_io.decode(streamed).duration_s == pytest.approx(1.0)


@given(st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_random_bytes_never_escape_as_foreign_errors(data: bytes) -> None:
    for head in (b"", b"RIFF\x24\x00\x00\x00WAVEfmt ", b"fLaC", b"OggS", b"ID3\x04\x00\x00"):
        try:
            clip = audio_io.decode(head + data)
        except InvalidRequest:
            continue
        assert np.isfinite(clip.samples).all()


@pytest.mark.parametrize("sample_rate", [8000, 16_000, 44_100, 48_000])
def test_resampling_keeps_duration_level_and_range(sample_rate: int) -> None:
    clip = tone(1.0)
    there = audio_io.resample(clip, sample_rate)
    assert there.sample_rate == sample_rate
    assert len(there.samples) == sample_rate
    assert there.samples.dtype == np.float32
    back = audio_io.resample(there, RATE)
    assert np.abs(back.samples - clip.samples)[500:-500].max() < 1e-3
    square = AudioClip(np.sign(clip.samples), RATE)
    assert np.abs(audio_io.resample(square, sample_rate).samples).max() <= 1.0
    assert audio_io.resample(clip, RATE) is clip


def test_every_format_has_a_type_and_a_suffix() -> None:
    assert set(audio_io.MIME_TYPES) == set(audio_io.SUFFIXES) == set(AUDIO_FORMATS)
    assert audio_io.MIME_TYPES["wav"] == "audio/wav"


@pytest.mark.parametrize("rate_hz", [1, 100, 3_999, 768_001, 2**31 - 1])
def test_an_odd_rate_is_a_sentence(rate_hz: int) -> None:
    data = bytearray(audio_io.encode(tone(0.1), "wav"))
    data[24:28] = rate_hz.to_bytes(4, "little")
    with pytest.raises(InvalidAudio, match=f"odd rate, {rate_hz} Hz"):
        audio_io.decode(bytes(data))


def test_many_channels_are_mixed_a_block_at_a_time() -> None:
    buffer = io.BytesIO()
    sound = np.repeat(tone(8.0).samples[:, None], 8, axis=1) * np.linspace(0.0, 1.0, 8, dtype=np.float32)
    sf.write(buffer, sound, RATE, format="WAV", subtype="FLOAT")
    clip = audio_io.decode(buffer.getvalue())
    assert clip.samples == pytest.approx(tone(8.0).samples * 0.5, abs=1e-6)
    with pytest.raises(InvalidAudio, match=r"longer than 7\.5 seconds"):
        audio_io.decode(buffer.getvalue(), 7.5)


def test_a_file_without_end_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio_io, "_MAX_DECODE_BYTES", 100_000)
    with pytest.raises(InvalidAudio, match="larger than"):
        audio_io.decode(Path("/dev/zero"))
    path = tmp_path / "a.wav"
    audio_io.write(tone(0.5), path)
    assert audio_io.decode(path).duration_s == pytest.approx(0.5)
