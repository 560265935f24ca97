"""What the panel does, as plain functions: nothing in, HTML out. No Gradio here."""

from __future__ import annotations

from voice_sculptor.engines.registry import Choice
from voice_sculptor.studio import Studio
from voice_sculptor.ui import gauges


class PanelHandlers:
    """The panel's events over one studio; each takes well under a millisecond and touches no device.

    Args:
        studio: Whose machine it is.
        choice: Why the studio has the engine it has.
    """

    def __init__(self, studio: Studio, choice: Choice) -> None:
        self._studio = studio
        self._choice = choice

    def show(self) -> str:
        """HTML of the panel as the machine was at the governor's last look."""
        worker, governor = self._studio.worker, self._studio.governor
        machine = gauges.Machine(
            self._studio.engine.info,
            self._choice,
            worker.dtype,
            worker.is_loaded,
            worker.num_waiting,
            worker.num_running,
        )
        return gauges.panel(machine, governor.looks, governor.thresholds)

    def unload(self) -> str:
        """Free the device, after what runs; the next request loads the engine again."""
        self._studio.worker.unload()
        return self.show()

    def reload(self) -> str:
        """Load the engine anew, after what runs."""
        self._studio.worker.reload()
        return self.show()
