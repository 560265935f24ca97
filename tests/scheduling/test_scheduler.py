"""The policy: who gets a place, who runs with whom, and what is said of the wait. No threads, a clock of its own."""

from __future__ import annotations

import queue

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scheduling.engines import request
from voice_sculptor.controls import Controls
from voice_sculptor.engines.fake import FakeOptions
from voice_sculptor.errors import Cancelled, QueueFull
from voice_sculptor.scheduling.batching import LENGTH_RATIO, LENGTH_SLACK_S, Window, form, groups
from voice_sculptor.scheduling.job import CancelToken, Job, Waiting
from voice_sculptor.scheduling.length import predicted_s
from voice_sculptor.scheduling.scheduler import Scheduler
from voice_sculptor.scheduling.speed import Speed

SENTENCE = "This is a sentence of some length. "


def job(name: str, client: str = "", text: str = "hello", **rest: object) -> Job:
    return Job(request(name, text, client=client, **rest), CancelToken(), "fake")  # type: ignore[arg-type]


def ids(jobs: object) -> list[str]:
    return [each.request.id for each in jobs]  # type: ignore[attr-defined]


def places(of: Job) -> list[tuple[int, float]]:
    """Every place it was told so far, with the begin that is expected now."""
    said = []
    while True:
        try:
            event = of.events.get_nowait()
        except queue.Empty:
            return said
        if isinstance(event, Waiting):
            said.append((event.position, of.begins_s))


def test_the_queue_is_bounded_and_keeps_places_for_others() -> None:
    scheduler = Scheduler(8)
    for number in range(6):
        scheduler.admit(job(f"a{number}", "a"), 0.0, 1)
    with pytest.raises(QueueFull):
        scheduler.admit(job("a6", "a"), 0.0, 1)
    scheduler.admit(job("b", "b"), 0.0, 1)
    scheduler.admit(job("c", "c"), 0.0, 1)
    with pytest.raises(QueueFull, match="8 requests"):
        scheduler.admit(job("d", "d"), 0.0, 1)
    assert len(scheduler) == 8


def test_callers_that_nobody_knows_share_the_whole_queue() -> None:
    scheduler = Scheduler(8)
    for number in range(8):
        scheduler.admit(job(f"{number}"), 0.0, 1)
    with pytest.raises(QueueFull):
        scheduler.admit(job("8"), 0.0, 1)


def test_busy_is_until_one_goes_and_not_until_all_have() -> None:
    scheduler = Scheduler(3)
    scheduler.admit(job("warm", text=SENTENCE), 0.0, 1)
    (warm,) = scheduler.take(0.0, 1)
    warm.end()
    scheduler.ended(2 * warm.cost, 2 * warm.cost)
    scheduler.admit(job("running", text=SENTENCE), 100.0, 1)
    (running,) = scheduler.take(100.0, 1)
    for number in range(3):
        scheduler.admit(job(f"{number}", text=SENTENCE), 100.0, 1)
    with pytest.raises(QueueFull) as refused:
        scheduler.admit(job("over"), 101.0, 1)
    assert refused.value.retry_after_s == pytest.approx(2 * running.cost - 1.0)
    with pytest.raises(QueueFull) as refused:
        scheduler.admit(job("over"), 1000.0, 1)
    assert 0.0 < refused.value.retry_after_s < 0.5 * running.cost, "late work is about to end"


def test_the_wait_is_measured_in_work_and_not_in_requests() -> None:
    scheduler = Scheduler(8)
    scheduler.admit(job("running", "a", text=SENTENCE), 0.0, 1)
    (running,) = scheduler.take(0.0, 1)
    long, short = job("long", "b", text=SENTENCE * 20), job("short", "c")
    scheduler.admit(long, 0.0, 1)
    scheduler.admit(short, 0.0, 1)
    last = job("last", "d")
    scheduler.admit(last, 0.0, 1)
    assert places(long) == [(1, running.cost)]
    assert places(short) == [(2, running.cost + long.cost)]
    assert places(last) == [(3, running.cost + long.cost + short.cost)]
    assert scheduler.remove(long, 1.0, 1)
    assert not scheduler.remove(long, 1.0, 1)
    assert places(short) == [(1, pytest.approx(running.cost))]
    assert places(last) == [(2, pytest.approx(running.cost + short.cost))]


def test_candidates_count() -> None:
    assert job("six", seeds=(1, 2, 3, 4, 5, 6)).cost == pytest.approx(6 * job("one").cost)


def test_those_that_will_run_together_begin_together() -> None:
    scheduler = Scheduler(8)
    jobs = [job(f"{number}") for number in range(5)]
    for each in jobs:
        scheduler.admit(each, 0.0, 2)
    begins_s = [each.begins_s for each in jobs]
    assert begins_s[0] == begins_s[1] < begins_s[2] == begins_s[3] < begins_s[4]


def test_a_long_queue_is_told_in_batches() -> None:
    scheduler = Scheduler(1000)
    jobs = [job(f"{number}") for number in range(200)]
    for each in jobs:
        scheduler.admit(each, 0.0, 1)
    assert [place for place, _ in places(jobs[-1])] == [199]
    places(jobs[100])
    scheduler.take(0.0, 1)
    assert scheduler.remove(jobs[1], 0.0, 1)
    assert places(jobs[100]) == []
    scheduler.take(0.0, 1)
    assert [place for place, _ in places(jobs[100])] == [98]


def test_work_that_was_left_off_is_neither_speed_nor_charged() -> None:
    scheduler = Scheduler(8)
    for name, client in (("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b")):
        scheduler.admit(job(name, client, text=SENTENCE), 0.0, 1)
    (first,) = scheduler.take(0.0, 1)
    first.end(Cancelled())
    before_s = scheduler.speed.work_s(1.0)
    scheduler.ended(0.01, 0.01)
    assert scheduler.speed.work_s(1.0) == before_s
    order = []
    while taken := scheduler.take(1.0, 1):
        order += ids(taken)
        taken[0].end()
        scheduler.ended(2.0, 1.0)
    assert order == ["b1", "a2", "b2"]
    assert scheduler.speed.work_s(1.0) != before_s


def test_the_speed_is_that_of_late_and_loading_comes_on_top() -> None:
    speed = Speed()
    assert speed.work_s(3.0) == 3.0
    for _ in range(20):
        speed.measured(10.0, 100.0)
    for _ in range(8):
        speed.measured(10.0, 5.0)
    assert speed.work_s(4.0) == pytest.approx(2.0)
    speed.loaded(7.0)
    assert speed.work_s(4.0) == pytest.approx(2.0)
    assert speed.work_s(4.0, is_loaded=False) == pytest.approx(9.0)
    assert Speed.left_s(10.0, 4.0) == 6.0
    assert Speed.left_s(10.0, 40.0) == 1.0


@pytest.mark.parametrize(
    ("other", "fit"),
    [
        ({}, True),
        ({"text": SENTENCE}, True),
        ({"text": SENTENCE * 20}, False),
        ({"seeds": (1, 2, 3)}, True),
        ({"controls": Controls(pitch=1.0, age=70)}, True),
        ({"delay_s": 0.5}, False),
        ({"name": "a"}, False),
    ],
    ids=["same", "longer", "far longer", "candidates", "controls", "options", "same id"],
)
def test_what_fits_together(other: dict[str, object], fit: bool) -> None:
    assert ids(form([job("a"), job(**({"name": "b"} | other))], 4)) == (["a", "b"] if fit else ["a"])


def test_nobody_passes_his_own_earlier_request() -> None:
    order = [job("a"), job("b1", "b", text=SENTENCE * 20), job("b2", "b"), job("c", "c"), job("d", "d")]
    assert ids(form(order, 3)) == ["a", "c", "d"]
    assert ids(form(order, 2)) == ["a", "c"]
    assert [ids(group) for group in groups(order, 3)] == [["a"], ["b1"], ["b2", "c", "d"]]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 30), st.booleans()), min_size=1, max_size=20),
    st.integers(1, 6),
)
def test_every_batch_begins_with_whose_turn_it_is(waiting: list[tuple[str, int, bool]], limit: int) -> None:
    scheduler = Scheduler(100)
    for number, (client, length, is_odd) in enumerate(waiting):
        options = {"delay_s": 1.0} if is_odd else {}
        scheduler.admit(job(f"{number}", client, text=SENTENCE * length, **options), 0.0, limit)
    taken: list[str] = []
    while len(scheduler):
        turn = next(iter(scheduler))
        batch = scheduler.take(0.0, limit)
        lengths_s = [each.length_s for each in batch]
        assert batch[0] is turn
        assert 1 <= len(batch) <= limit
        assert max(lengths_s) <= LENGTH_RATIO * min(lengths_s) + LENGTH_SLACK_S
        assert (
            len({each.request.options for each in batch if isinstance(each.request.options, FakeOptions)})
            == 1
        )
        taken += ids(batch)
        for each in batch:
            each.end()
        scheduler.ended(1.0, 1.0)
    assert sorted(taken, key=int) == [str(number) for number in range(len(waiting))]
    for client in "abc":
        own = [int(name) for name in taken if waiting[int(name)][0] == client]
        assert own == sorted(own)


def test_an_idle_device_begins_at_once() -> None:
    scheduler = Scheduler(8, window_s=0.05)
    assert scheduler.ready_s(0.0, 4) is None
    scheduler.admit(job("a"), 0.0, 4)
    assert scheduler.ready_s(0.0, 4) == 0.0
    (running,) = scheduler.take(0.0, 4)
    running.end()
    scheduler.ended(10.0, 10.0)
    scheduler.admit(job("b"), 10.001, 4)
    assert scheduler.ready_s(10.001, 4) == 10.001, "one client alone never waits"


def test_after_a_batch_the_next_waits_for_those_that_are_likely_to_come() -> None:
    scheduler = Scheduler(8, window_s=0.05)
    for number in range(3):
        scheduler.admit(job(f"{number}"), 0.0, 4)
    for each in scheduler.take(0.0, 4):
        each.end()
    scheduler.ended(10.0, 10.0)
    scheduler.admit(job("3"), 10.001, 4)
    assert scheduler.ready_s(10.001, 4) == pytest.approx(10.05)
    assert scheduler.ready_s(10.001, 1) == 10.001, "there is nothing to wait for where batches are of one"
    scheduler.admit(job("4"), 10.002, 4)
    scheduler.admit(job("5"), 10.003, 4)
    assert scheduler.ready_s(10.003, 4) == 10.003, "as many as before: nobody else is expected"
    assert len(scheduler.take(10.003, 4)) == 3


def test_a_window_that_does_not_pay_is_left_out_until_it_would() -> None:
    window = Window(0.05)
    for number in range(6):
        window.batch_ended(10.0 * number, 2)
        window.arrived(10.0 * number + 5.0)
    assert window.until_s(1, 4, 100.0) == float("-inf")
    for number in range(6, 9):
        window.batch_ended(10.0 * number, 2)
        window.arrived(10.0 * number + 0.01)
    window.batch_ended(90.0, 2)
    assert window.until_s(1, 4, 100.0) == pytest.approx(90.05)
    assert window.until_s(1, 4, 0.02) == pytest.approx(90.01), "it never waits longer than half of the work"


@pytest.mark.parametrize(
    ("text", "controls", "low_s", "high_s"),
    [
        ("hello", Controls(), 0.4, 0.7),
        ("今天的天气很好，我们去公园散步。", Controls(), 2.5, 4.0),
        (
            "The lake lay silent under the first snow, and nobody had seen the ferry since noon.",
            Controls(),
            4.0,
            6.5,
        ),
        (
            "The lake lay silent under the first snow, and nobody had seen the ferry.",
            Controls(speed=2.0),
            1.7,
            2.7,
        ),
        ("1,234,567", Controls(), 2.0, 6.0),
        ("。", Controls(), 0.5, 0.5),
    ],
)
def test_the_length_is_guessed_from_the_text(
    text: str, controls: Controls, low_s: float, high_s: float
) -> None:
    assert low_s <= predicted_s(request(text=text, controls=controls)) <= high_s


def test_a_long_text_is_guessed_from_its_beginning() -> None:
    assert predicted_s(request(text=SENTENCE * 500)) == pytest.approx(
        10 * predicted_s(request(text=SENTENCE * 50)), rel=0.05
    )
