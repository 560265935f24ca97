import numpy as np

from voice_sculptor.engines.kokoro.joining import SAMPLE_RATE, trim_edges, with_pause


def speech(lead_s: float, speech_s: float, tail_s: float) -> np.ndarray:
    noise = np.random.default_rng(0).normal(0.0, 0.1, round(speech_s * SAMPLE_RATE))
    lead, tail = (np.full(round(each * SAMPLE_RATE), 1e-5) for each in (lead_s, tail_s))
    return np.concatenate([lead, noise, tail]).astype(np.float32)


def test_silence_at_the_edges_goes_but_for_25_ms_and_ends_are_faded():
    trimmed = trim_edges(speech(0.3, 1.0, 0.5))
    assert abs(len(trimmed) / SAMPLE_RATE - 1.05) < 0.006
    assert trimmed[0] == trimmed[-1] == 0.0


def test_speech_without_silence_keeps_its_length():
    assert len(trim_edges(speech(0.0, 1.0, 0.0))) == SAMPLE_RATE


def test_silence_alone_and_a_few_samples_come_back_as_they_are():
    silence = np.zeros(SAMPLE_RATE, np.float32)
    assert np.array_equal(trim_edges(silence), silence)
    few = np.ones(7, np.float32)
    assert np.array_equal(trim_edges(few), few)


def test_a_pause_counts_the_edges_that_stay():
    assert len(with_pause(np.ones(100, np.float32), 0.55)) == 100 + round(0.5 * SAMPLE_RATE)
    assert len(with_pause(np.ones(100, np.float32), 0.0)) == 100
