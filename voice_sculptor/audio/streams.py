"""Audio as one stream of bytes, encoded while it is made.

| format | the stream |
|---|---|
| wav | 16-bit PCM under the header of an unfinished file: its lengths claim nothing, readers go on to the end |
| pcm | bare 16-bit samples, little end first |
| mp3, opus | as the file |

FLAC is none of them: its readers take a length that is left open for an endless one.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Literal

from voice_sculptor.audio.io import container_of, sndfile_options, to_int16
from voice_sculptor.errors import OutputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

StreamFormat = Literal["wav", "mp3", "opus", "pcm"]

PCM_RATE = 24_000
"""Hz of bare samples, which carry no rate of their own."""


def pcm_bytes(samples: NDArray[np.float32]) -> bytes:
    """Samples as 16-bit integers, little end first.

    Args:
        samples: float32 `[num_samples]`, clipped to ±1.
    """
    return to_int16(samples).astype("<i2").tobytes()


class StreamEncoder:
    """Takes pieces of a clip and gives the bytes that are ready.

    Args:
        format: Of the stream.
        sample_rate: Of the pieces, Hz; a format that cannot carry it gets the next one it can.
    """

    def __init__(self, format: StreamFormat, sample_rate: int) -> None:
        self.format = format
        self.sample_rate = PCM_RATE if format == "pcm" else container_of(format).rate_for(sample_rate)
        self._resampler = None
        if self.sample_rate != sample_rate:
            import soxr

            self._resampler = soxr.ResampleStream(sample_rate, self.sample_rate, 1, dtype="float32")
        self._sink = _Sink()
        self._file = None
        if format == "wav":
            self._sink.write(_wav_header(self.sample_rate))
        elif format != "pcm":
            import soundfile as sf

            options = sndfile_options(format, self.sample_rate)
            self._file = sf.SoundFile(self._sink, "w", samplerate=self.sample_rate, channels=1, **options)

    def add(self, samples: NDArray[np.float32]) -> bytes:
        """What is ready after the next piece; may be empty.

        Args:
            samples: float32 `[num_samples]`.

        Raises:
            OutputError: NaN or infinity in it.
        """
        self._write(samples, is_last=False)
        return self._sink.taken()

    def finish(self) -> bytes:
        """The end of the stream."""
        import numpy as np

        self._write(np.zeros(0, np.float32), is_last=True)
        self.close()
        return self._sink.taken()

    def close(self) -> None:
        """Leave off; nothing may be added any more."""
        if self._file is not None:
            self._file.close()

    def _write(self, samples: NDArray[np.float32], *, is_last: bool) -> None:
        import numpy as np

        if not np.isfinite(samples).all():
            raise OutputError(
                "The audio holds invalid samples.",
                "音频含有无效采样。",
                fix_en="Speak the text again with another seed.",
                fix_zh="请换一个种子重新合成。",
            )
        if self._resampler is not None:
            samples = self._resampler.resample_chunk(np.ascontiguousarray(samples), last=is_last)
        if not len(samples):
            return
        if self._file is None:
            self._sink.write(pcm_bytes(samples))
        else:
            self._file.write(to_int16(samples))


class _Sink(io.RawIOBase):
    """A file of which only what has not been taken is kept; what is written over what has been taken is dropped."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._start = 0
        self._place = 0

    def taken(self) -> bytes:
        """All that is new."""
        data = bytes(self._kept)
        self._start += len(data)
        self._kept.clear()
        return data

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place}.get(whence, self._start + len(self._kept))
        self._place = base + offset
        return self._place

    def write(self, data: object) -> int:
        given = bytes(data)  # type: ignore[call-overload]
        late = max(0, self._start - self._place)
        place = max(0, self._place - self._start)
        self._kept[place : place + len(given[late:])] = given[late:]
        self._place += len(given)
        return len(given)

    def readinto(self, buffer: object) -> int:
        return 0  # An encoder reads nothing back.


def _wav_header(sample_rate: int) -> bytes:
    fmt = struct.pack("<HHIIHH", 1, 1, sample_rate, 2 * sample_rate, 2, 16)
    return b"RIFF" + struct.pack("<I", 8) + b"WAVEfmt " + struct.pack("<I", 16) + fmt + b"data" + bytes(4)
