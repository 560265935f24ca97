"""What runs side by side, and how long a batch waits for company. Pure: no threads, no clock."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from voice_sculptor.scheduling.job import Job

LENGTH_RATIO = 2.0
LENGTH_SLACK_S = 2.0
"""In one batch no candidate is longer than this many times the shortest, and this more: the shorter ones' callers do
not wait for it, but whoever comes next does."""

_LEARNING = 0.3
_PAYS_FROM = 0.3
_SHARE_OF_WORK = 0.5


def fits(batch: Sequence[Job], job: Job) -> bool:
    """Whether a job can run in one call with these: the same options, and about as long."""
    lengths_s = [job.length_s, *(each.length_s for each in batch)]
    return (
        all(each.request.id != job.request.id for each in batch)
        and batch[0].request.options == job.request.options
        and max(lengths_s) <= LENGTH_RATIO * min(lengths_s) + LENGTH_SLACK_S
    )


def form(order: Iterable[Job], limit: int) -> list[Job]:
    """The next batch: the job whose turn it is, and what fits to it, in turn; no job passes its own client's others.

    Args:
        order: What waits, in the order of turns.
        limit: Most jobs, at least 1.
    """
    batch: list[Job] = []
    passed: set[Hashable] = set()
    for job in order:
        if len(batch) >= limit:
            break
        if batch and (job.request.client in passed or not fits(batch, job)):
            passed.add(job.request.client)
        else:
            batch.append(job)
    return batch


def groups(order: Iterable[Job], limit: int) -> Iterable[list[Job]]:
    """What waits, cut into the batches that are to be expected, in the order of turns."""
    group: list[Job] = []
    for job in order:
        if group and (len(group) >= limit or not fits(group, job)):
            yield group
            group = []
        group.append(job)
    if group:
        yield group


class Window:
    """How long the next batch waits for company: only after another one, and only where company has been coming.

    After a batch, its clients often ask again at once. The next one then waits until as many are there as were before,
    but no longer than the window, counted from the end of the batch, and than half of the work that waits. Where nobody
    has come within the window lately, it is left out. On an idle device it is over, so a request begins at once.

    Args:
        window_s: Longest wait, seconds.
    """

    def __init__(self, window_s: float) -> None:
        self._window_s = window_s
        self._ended_s = float("-inf")
        self._demand = 0
        self._has_come = True
        self._pays = 1.0

    def batch_ended(self, now_s: float, demand: int) -> None:
        """A batch is over; so many were in it or wait, each client that waits again counted once."""
        self._pays += _LEARNING * (float(self._has_come) - self._pays)
        self._has_come = False
        self._ended_s = now_s
        self._demand = demand

    def arrived(self, now_s: float) -> None:
        """Somebody came."""
        self._has_come = self._has_come or now_s - self._ended_s <= self._window_s

    def until_s(self, num_fitting: int, limit: int, work_s: float) -> float:
        """When a batch begins that could begin now.

        Args:
            num_fitting: Requests that would be in it.
            limit: Most that may be in it.
            work_s: What it is expected to take.

        Returns:
            On the clock of the other methods; what has passed means now.
        """
        if num_fitting >= min(limit, self._demand) or self._pays < _PAYS_FROM:
            return float("-inf")
        return self._ended_s + min(self._window_s, _SHARE_OF_WORK * work_s)
