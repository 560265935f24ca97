"""An engine on its device, or not; for the worker's thread only."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from itertools import chain

from voice_sculptor.engines.base import Engine
from voice_sculptor.errors import LoadFailed, VoiceSculptorError
from voice_sculptor.scheduling import shortage
from voice_sculptor.scheduling.memory import choose

SPINS = 10_000
"""Turns for which a thread of GNU's OpenMP, which torch computes with on Linux, watches for work before it sleeps.

Its own default, 300,000, takes the cores away from whoever shares them: beside two busy processes on two cores the
embedded engine took 1.2–1.7 times as long with it as with this, and alone as long, within the noise. Far fewer turns
cost a tenth alone."""

_log = logging.getLogger(__name__)


class Loader:
    """Loads, warms up and unloads one engine.

    Args:
        engine: Which.
        device: As asked for; what it means is found when the engine is loaded.
        dtype: As in `Engine.load`.

    Attributes:
        device: What `memory.choose` made of it, after the first load.
        is_loaded: Whether the engine is on the device.
    """

    def __init__(self, engine: Engine, device: str, dtype: str | None) -> None:
        self.device = device
        self.is_loaded = False
        self._engine = engine
        self._asked_device = device
        self._dtype = dtype

    def load(self, progress: Callable[[float], None]) -> float | None:
        """Bring the engine onto the device where it is not.

        Returns:
            Seconds that took; `None` where there was nothing to do.

        Raises:
            VoiceSculptorError: It cannot be loaded.
        """
        if self.is_loaded:
            return None
        # Read by the library when torch is first imported; an operator's own value stands.
        os.environ.setdefault("GOMP_SPINCOUNT", str(SPINS))
        began_s = time.monotonic()
        try:
            self.device = choose(self._asked_device, self._engine.info.memory_estimate_bytes)
            self._engine.load(self.device, self._dtype, progress)
        except VoiceSculptorError:
            raise
        except BaseException as error:
            if shortage.is_shortage(error):
                shortage.free_caches(error)
                raise shortage.said(error, self.device) from error
            raise LoadFailed(
                f"The engine {self._engine.info.id!r} could not be loaded: {error!r}.",
                f"引擎 {self._engine.info.id!r} 加载失败：{error!r}。",
                fix_en="Run `bash run.sh setup` again; if it repeats, report it with the log.",
                fix_zh="请重新运行 `bash run.sh setup`；如果反复出现，请附上日志报告问题。",
            ) from error
        self.is_loaded = True
        return time.monotonic() - began_s

    def preload(self, is_wanted: Callable[[], bool]) -> None:
        """Load and warm up step by step; leaves off where somebody waits. A failure shows on the first request.

        Args:
            is_wanted: Asked after each step whether the thread has something better to do.
        """
        try:
            self.load(lambda fraction: None)
            for _ in chain((None,), self._engine.warm_up()):
                if is_wanted():
                    break
        except VoiceSculptorError as error:
            _log.warning("The engine could not be made ready ahead: %s", error.message())
        except BaseException:  # noqa: BLE001  # The thread goes on: whoever asks first is told what breaks.
            _log.exception("The engine %s could not be warmed up", self._engine.info.id)

    def unload(self) -> None:
        """Take the engine off the device, and leave nothing of it behind."""
        if not self.is_loaded:
            return
        self.is_loaded = False
        try:
            self._engine.unload()
        except BaseException:  # noqa: BLE001  # What it holds then is freed with it, or never.
            _log.exception("The engine %s broke while it was unloaded", self._engine.info.id)
        shortage.free_caches()
