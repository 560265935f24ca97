"""The real page in a real browser, over a fake engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

TEXT = "#vs-text textarea"
DESCRIPTION = "#vs-description textarea"
EVIL = '<img src=x onerror="window.evil=1"> ${window.evil=2} {{value}} velvety old man'


class Visit:
    """A tab on the page, with what it asked for and complained about."""

    def __init__(self, context: Any, site: str) -> None:
        self.page = context.new_page()
        self.problems: list[str] = []
        self.foreign: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url, site))
        self.page.set_default_timeout(25_000)
        self.page.goto(site)
        self.page.wait_for_selector(".vs-ready #vs-generate")

    def _note(self, url: str, site: str) -> None:
        if not url.startswith((site, "data:", "blob:")):
            self.foreign.append(url)

    def generate(self, text: str) -> None:
        self.page.fill(TEXT, text)
        self.page.click("#vs-generate")

    def text_of(self, selector: str) -> str:
        return str(self.page.inner_text(selector))


@pytest.fixture(scope="module")
def english(chromium: Any) -> Iterator[Any]:
    # One for all, so that the page's files are loaded once.
    context = chromium.new_context(locale="en-US", accept_downloads=True)
    yield context
    context.close()


@pytest.fixture
def visit(english: Any, site: str) -> Iterator[Visit]:
    tab = Visit(english, site)
    yield tab
    assert tab.problems == []
    assert tab.foreign == []
    tab.page.close()


def test_three_voices_from_a_preset(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.click("#vs-presets-role label >> nth=0")
    page.wait_for_function("document.querySelector('#vs-text textarea').value.length > 5")
    assert len(page.input_value(DESCRIPTION)) > 5
    page.wait_for_selector("#vs-understood .vs-chip")
    page.fill("#vs-seed input", "77")
    page.click("#vs-generate")
    for index in range(3):
        card = page.locator(f"#vs-card-{index + 1}")
        card.wait_for()
        assert f"Seed {77 + index}" in card.inner_text()
        card.locator(".play-pause-button").wait_for()
    page.wait_for_selector("#vs-generate:enabled")
    assert not page.is_visible("#vs-card-4")
    for index in range(3):
        with page.expect_download() as download:
            page.click(f"#vs-card-{index + 1} .vs-save-audio")
        assert download.value.suggested_filename == f"{index + 1}-seed-{77 + index}.wav"

    # Each plays, reads its own seed back, and comes in each format.
    page.click("#vs-card-1 .play-pause-button")
    page.wait_for_selector("#vs-card-1 .play-pause-button[aria-label='Pause']")
    page.click("#vs-card-3 .vs-use-seed")
    page.wait_for_function("document.querySelector('#vs-seed input').value === '79'")
    page.click("#vs-format label:has-text('MP3')")
    # The link changes once the files are there.
    page.wait_for_timeout(1500)
    with page.expect_download() as download:
        page.click("#vs-card-2 .vs-save-audio")
    assert download.value.suggested_filename == "2-seed-78.mp3"
    with page.expect_download() as download:
        page.click("#vs-card-2 .vs-save-voice")
    download.value.save_as(tmp_path / "v.voice.json")
    assert '"seed": 78' in (tmp_path / "v.voice.json").read_text()


def test_what_was_asked_is_reported_and_the_best_comes_first(visit: Visit) -> None:
    page = visit.page
    page.fill(DESCRIPTION, "a loud woman with a breathy voice")
    page.wait_for_selector("#vs-understood .vs-chip:has-text('Breathy')")
    visit.generate("One sentence to speak.")
    page.wait_for_selector("#vs-card-3 .vs-report")
    page.wait_for_selector("#vs-generate:enabled")
    assert page.locator(".vs-best").count() == 1
    # On the page, from above: the places 1, 2, 3, whatever the number of the candidate.
    tops = [page.locator(f".vs-card:has([data-rank='{place}'])").bounding_box()["y"] for place in (1, 2, 3)]
    assert tops == sorted(tops)
    assert not page.is_visible("#vs-card-2 .vs-report table")
    page.click("#vs-card-2 .vs-report summary")
    rows = page.locator("#vs-card-2 .vs-report tbody tr")
    assert rows.count() == 3
    assert "Volume" in rows.nth(1).inner_text()
    assert "aim" in rows.nth(1).inner_text()
    # Ranking touches the words only: what plays and what is saved stays.
    for index in range(3):
        assert page.locator(f"#vs-card-{index + 1} .play-pause-button").is_visible()


def test_undo_and_clear_bring_back_what_was_there(visit: Visit) -> None:
    page = visit.page
    page.fill(DESCRIPTION, "my own words")
    page.click("#vs-presets-scene label >> nth=1")
    page.wait_for_function("document.querySelector('#vs-description textarea').value !== 'my own words'")
    page.click("#vs-undo")
    page.wait_for_function("document.querySelector('#vs-description textarea').value === 'my own words'")
    page.click("#vs-clear")
    page.wait_for_function("document.querySelector('#vs-description textarea').value === ''")


def test_language_follows_the_browser_and_switches_without_losing_input(chromium: Any, site: str) -> None:
    context = chromium.new_context(locale="zh-CN")
    tab = Visit(context, site)
    page = tab.page
    assert tab.text_of("#vs-generate") == "生成"
    assert page.get_attribute("html", "lang") == "zh"
    page.click("#vs-presets-profession label >> nth=0")
    page.wait_for_function("/[\u4e00-\u9fff]/.test(document.querySelector('#vs-text textarea').value)")
    page.fill(DESCRIPTION, "我自己写的：低沉的男声")
    page.fill("#vs-seed input", "abc")
    page.click("#vs-generate")
    page.wait_for_selector("#vs-message .vs-error")
    assert "不是整数" in tab.text_of("#vs-message")

    page.click("#vs-language label:has-text('English')")
    page.wait_for_function("document.querySelector('#vs-generate').innerText === 'Generate'")
    assert "not a whole number" in tab.text_of("#vs-message")
    assert page.input_value(DESCRIPTION) == "我自己写的：低沉的男声"
    assert page.input_value("#vs-seed input") == "abc"
    # The sample text was still the preset's own, so it follows.
    assert not re.search(r"[\u4e00-\u9fff]", page.input_value(TEXT))
    page.reload()
    page.wait_for_selector(".vs-ready #vs-generate")
    assert tab.text_of("#vs-generate") == "Generate"
    assert tab.problems == []
    context.close()


def test_a_level_between_comes_with_its_preset_and_goes_with_it(visit: Visit) -> None:
    page = visit.page
    page.click("label:has(> input[value='apology-call'])")
    page.wait_for_selector("#vs-pitch label.selected:has-text('Slightly low')")
    page.wait_for_selector("#vs-pitch_variation label.selected:has-text('Slightly flat')")
    page.click("#vs-language label:has-text('中文')")
    page.wait_for_selector("#vs-pitch label.selected:has-text('略低')")
    page.click("#vs-clear")
    page.wait_for_selector("#vs-pitch label.selected:has-text('自动')")
    assert page.locator("#vs-pitch label:visible").count() == 6
    page.click("#vs-undo")
    page.wait_for_selector("#vs-pitch label.selected:has-text('略低')")
    page.click("label:has(> input[value='news-anchor'])")
    page.wait_for_selector("#vs-pitch label.selected:has-text('略低')", state="detached")
    assert page.locator("#vs-pitch label:visible").count() == 6
    page.click("#vs-language label:has-text('English')")  # which the other tabs of this browser begin with
    page.wait_for_selector("#vs-pitch label:has-text('Very low')")
    page.click("#vs-generate")
    page.wait_for_selector("#vs-card-3 .vs-report")


def test_who_keeps_nothing_is_not_asked_to_choose(visit: Visit) -> None:
    page = visit.page
    page.wait_for_selector("#vs-kept .vs-none-kept")
    assert not page.is_visible("#vs-kept-list")
    assert not page.is_visible("#vs-kept .vs-hint")


def test_a_conflict_is_no_alarm(visit: Visit) -> None:
    page = visit.page
    page.fill(DESCRIPTION, "a little boy")
    page.click("#vs-gender label:has-text('Female')")
    page.wait_for_selector("#vs-understood .vs-warning")
    assert (
        page.eval_on_selector("#vs-understood .vs-warning", "box => getComputedStyle(box).borderTopWidth")
        == "0px"
    )


def test_moving_a_dial_asks_for_it_and_auto_takes_it_back(visit: Visit) -> None:
    page = visit.page
    assert page.is_checked("#vs-age-auto input")
    page.fill("#vs-age input[type=number]", "70")
    page.keyboard.press("Tab")
    page.wait_for_function("!document.querySelector('#vs-age-auto input').checked")
    page.fill(DESCRIPTION, "a little boy")
    page.wait_for_selector("#vs-understood .vs-warning")
    page.click("#vs-age-auto label")
    page.wait_for_selector("#vs-understood .vs-warning", state="detached")


def test_arrow_keys_move_within_a_group_and_tab_leaves_it(visit: Visit) -> None:
    page = visit.page
    page.focus("#vs-gender input >> nth=0")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#vs-gender label.selected:has-text('Male')")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#vs-gender') === null")


def test_an_error_is_said_and_the_input_kept(visit: Visit) -> None:
    page = visit.page
    visit.generate("…！？")
    page.wait_for_selector("#vs-message [role=alert]")
    assert "nothing to speak" in visit.text_of("#vs-message")
    assert page.input_value(TEXT) == "…！？"
    page.fill(TEXT, "This")
    page.wait_for_selector("#vs-message [role=alert]", state="detached")
    visit.generate("This will explode.")
    page.wait_for_function("document.querySelector('#vs-message').innerText.includes('The engine broke')")
    assert page.input_value(TEXT) == "This will explode."
    visit.generate("One is broken.")
    page.wait_for_selector("#vs-card-3")
    assert "broke" in visit.text_of("#vs-card-2")
    assert not page.is_visible("#vs-card-2 .vs-player")
    assert page.is_visible("#vs-card-1 .vs-player")
    page.wait_for_selector("#vs-generate:enabled")
    assert not page.is_visible("#vs-cancel")


def test_what_users_write_is_never_markup(visit: Visit) -> None:
    page = visit.page
    page.fill(DESCRIPTION, EVIL)
    page.wait_for_selector("#vs-understood .vs-understood")
    page.fill("#vs-seed input", EVIL)
    visit.generate(EVIL)
    page.wait_for_selector("#vs-message [role=alert]")
    assert page.evaluate("window.evil") is None
    assert page.locator("#vs-understood img, #vs-message img").count() == 0


def test_cancel_and_the_status_line_while_the_engine_works(visit: Visit) -> None:
    page = visit.page
    page.evaluate(
        "window.ticks = 0; new MutationObserver(() => window.ticks++).observe("
        "document.querySelector('#vs-status'), {childList: true, subtree: true, characterData: true})"
    )
    visit.generate("slow words " * 200)
    page.wait_for_function("document.querySelector('#vs-progress').innerText.includes('Making')")
    page.evaluate("window.ticks = 0")
    # Resident memory changes by some pages all the time; twice in the while is enough to know that it is alive.
    page.wait_for_function("window.ticks >= 2", timeout=20_000)
    assert page.is_disabled("#vs-generate")
    page.click("#vs-cancel")
    page.wait_for_selector("#vs-generate:enabled", timeout=10_000)
    assert "Cancelled" in visit.text_of("#vs-message")
    assert page.input_value(TEXT).startswith("slow words")
    visit.generate("Next one.")
    page.wait_for_selector("#vs-card-3")


def test_the_panel_is_in_view_and_its_buttons_work_beside_a_generation(visit: Visit) -> None:
    page = visit.page
    visit.generate("Load it.")
    page.wait_for_selector("#vs-card-3")
    page.wait_for_selector("#vs-status .vs-is-loaded .vs-spark svg polyline")
    for selector in ("#vs-status .vs-stack", "#vs-unload", "#vs-reload", "#vs-generate"):
        box = page.locator(selector).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= page.viewport_size["height"]
    visit.generate("slow words " * 60)
    page.wait_for_function("document.querySelector('#vs-progress').innerText.includes('Making')")
    page.wait_for_function("document.querySelector('#vs-status').innerText.includes('Running 1')")
    page.click("#vs-unload")  # After what runs.
    page.wait_for_function("document.querySelector('#vs-status').innerText.includes('Running 1')")
    assert page.is_disabled("#vs-generate")
    page.click("#vs-cancel")
    page.wait_for_selector("#vs-status .vs-is-unloaded")
    assert not page.is_visible("#vs-unload")
    assert "not loaded" in visit.text_of("#vs-status")
    page.click("#vs-reload")
    page.wait_for_selector("#vs-status .vs-is-loaded")
    assert page.is_visible("#vs-unload")


def test_closing_the_tab_frees_the_worker(english: Any, site: str, visit: Visit) -> None:
    tab = Visit(english, site)
    tab.generate("slow words " * 1000)
    tab.page.wait_for_function("document.querySelector('#vs-progress').innerText.includes('Making')")
    tab.page.close()
    visit.generate("Next one.")
    visit.page.wait_for_selector("#vs-card-3", timeout=25_000)


@pytest.mark.parametrize(("width", "locale", "scheme"), [(390, "en-US", "dark"), (1440, "zh-CN", "light")])
def test_nothing_scrolls_sideways(chromium: Any, site: str, width: int, locale: str, scheme: str) -> None:
    context = chromium.new_context(
        locale=locale, color_scheme=scheme, viewport={"width": width, "height": 844}
    )
    tab = Visit(context, site)
    tab.page.click("#vs-presets-role label >> nth=0")
    tab.page.wait_for_selector("#vs-understood .vs-chip")
    tab.generate("Say this.")
    tab.page.wait_for_selector("#vs-card-3 .play-pause-button")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.page.evaluate("document.body.classList.contains('dark')") is (scheme == "dark")
    context.close()
