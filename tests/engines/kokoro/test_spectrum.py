"""The small Fourier transforms against torch's."""

from __future__ import annotations

import torch

from voice_sculptor.engines.kokoro.spectrum import Spectrum

WINDOW = torch.hann_window(20)
SPECTRUM = Spectrum(20, 5, torch.device("cpu"))


def test_analysis_equals_the_stft() -> None:
    samples = torch.randn(600) - 0.5
    expected = torch.stft(samples, 20, 5, window=WINDOW, return_complex=True).t()
    magnitude, phase = SPECTRUM.analyse(samples).chunk(2, dim=1)
    torch.testing.assert_close(magnitude, expected.abs(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(torch.polar(magnitude, phase), expected, rtol=1e-4, atol=1e-5)


def test_a_negative_constant_has_phase_plus_pi_at_dc_and_nyquist() -> None:
    samples = -torch.ones(600) + 0.5 * (-1.0) ** torch.arange(600)
    expected = torch.stft(samples, 20, 5, window=WINDOW, return_complex=True).t().angle()
    phase = SPECTRUM.analyse(samples)[:, 11:]
    assert (phase[:, 0] > 3.14).all()
    torch.testing.assert_close(phase[:, [0, 10]], expected[:, [0, 10]], rtol=0, atol=1e-5)


def test_synthesis_equals_the_inverse_stft_to_the_edges() -> None:
    magnitude, phase = torch.randn(121, 11).exp(), torch.randn(121, 11)
    expected = torch.istft(torch.polar(magnitude, phase).t(), 20, 5, window=WINDOW)
    torch.testing.assert_close(SPECTRUM.synthesise(magnitude, phase), expected, rtol=1e-4, atol=1e-4)
