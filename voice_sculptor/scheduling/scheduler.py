"""Who may wait, who is next and with whom, and how long it will be. Pure policy: no threads, and the time is told."""

from __future__ import annotations

from collections.abc import Iterator

from voice_sculptor.errors import QueueFull
from voice_sculptor.scheduling.batching import Window, form, groups
from voice_sculptor.scheduling.fair import FairQueue
from voice_sculptor.scheduling.job import Job
from voice_sculptor.scheduling.speed import Speed

_KEPT_SHARE = 4
_MANY = 128
"""More than that waiting are told their new places once per batch, not with each that comes or goes."""


class Scheduler:
    """The queue in front of one engine.

    Args:
        max_queue: Most jobs that may wait. A quarter of the places is kept for clients that have none waiting; of jobs
            that say no client nobody knows whether they are one's or many's.
        window_s: See `batching.Window`.

    Attributes:
        running: The batch on the device.
        speed: How fast it is.
    """

    def __init__(self, max_queue: int, window_s: float = 0.05) -> None:
        self.max_queue = max_queue
        self.running: tuple[Job, ...] = ()
        self.speed = Speed()
        self._queue: FairQueue[Job] = FairQueue()
        self._window = Window(window_s)
        self._began_s = 0.0
        self._expected_s = 0.0

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._queue)

    def admit(self, job: Job, now_s: float, limit: int) -> None:
        """Give a job a place.

        Args:
            job: Which.
            now_s: On the clock of `time.monotonic`, here and below.
            limit: Most jobs in a batch now.

        Raises:
            QueueFull: There is none; it says when one is expected.
        """
        waiting, client = len(self._queue), job.request.client
        kept = self.max_queue // _KEPT_SHARE if client and self._queue.count(client) else 0
        if waiting >= self.max_queue - kept:
            raise QueueFull(waiting, self._until_one_goes_s(now_s, limit))
        self._queue.push(client, job, job.cost)
        self._window.arrived(now_s)
        self._announce(now_s, limit, job)

    def remove(self, job: Job, now_s: float, limit: int) -> bool:
        """Free the place of a job that has not begun. Whether it had one."""
        if not self._queue.remove(job.request.client, job):
            return False
        self._announce(now_s, limit, None)
        return True

    def ready_s(self, now_s: float, limit: int) -> float | None:
        """When the next batch begins: `now_s` for at once, `None` while nothing waits."""
        batch = form(self._queue, limit)
        if not batch:
            return None
        work_s = self.speed.work_s(sum(job.cost for job in batch))
        return max(now_s, self._window.until_s(len(batch), limit, work_s))

    def take(self, now_s: float, limit: int, is_loaded: bool = True) -> tuple[Job, ...]:
        """The next batch, which has the device from now on; empty where nothing waits.

        Args:
            now_s: Now.
            limit: Most jobs in it.
            is_loaded: Whether the engine need not be loaded first.
        """
        self.running = tuple(self._queue.take(job.request.client) for job in form(self._queue, limit))
        self._began_s = now_s
        self._expected_s = self.speed.work_s(sum(job.cost for job in self.running), is_loaded)
        self._announce(now_s, limit, None, is_batch=True)
        return self.running

    def ended(self, now_s: float, work_s: float) -> None:
        """The batch is over.

        Args:
            now_s: Now.
            work_s: Seconds it had the device, loading not counted.
        """
        batch, self.running = self.running, ()
        # Work that was not done says nothing about speed, and is not charged.
        undone = [job for job in batch if not job.is_done]
        for job in undone:
            self._queue.refund(job.request.client, job.cost * (1.0 - job.fraction))
        if batch and not undone:
            self.speed.measured(sum(job.cost for job in batch), work_s)
        served = {job.request.client for job in batch} - {""}
        others = sum(1 for job in self._queue if job.request.client not in served)
        self._window.batch_ended(now_s, len(batch) + others)
        if not self._queue:
            self._queue.rest()

    def _announce(self, now_s: float, limit: int, newcomer: Job | None, *, is_batch: bool = False) -> None:
        if len(self._queue) > _MANY and not is_batch:
            if newcomer is not None:
                ahead = len(self._queue) - 1
                mean_s = self.speed.work_s(newcomer.cost)
                newcomer.wait_in(len(self.running) + ahead, now_s + self._left_s(now_s) + ahead * mean_s)
            return
        place, begins_s = len(self.running), now_s + self._left_s(now_s)
        for group in groups(self._queue, limit):
            for job in group:
                job.wait_in(place, begins_s)
                place += 1
            begins_s += self.speed.work_s(sum(job.cost for job in group))

    def _left_s(self, now_s: float) -> float:
        return self.speed.left_s(self._expected_s, now_s - self._began_s) if self.running else 0.0

    def _until_one_goes_s(self, now_s: float, limit: int) -> float:
        """Seconds until the next batch is taken out of the queue."""
        if self.running:
            return self._left_s(now_s)
        return self.speed.work_s(sum(job.cost for job in form(self._queue, limit)))
