"""The list of kept voices on the real page in a real browser, over a fake engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ui.test_browser import EVIL, Visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


@pytest.fixture
def visit(chromium: Any, site: str) -> Iterator[Visit]:
    context = chromium.new_context(locale="en-US", accept_downloads=True)
    tab = Visit(context, site)
    yield tab
    assert tab.problems == []
    assert tab.foreign == []
    context.close()


def keep(visit: Visit, name: str, card: int = 1) -> None:
    visit.page.fill(f"#vs-card-{card} .vs-keep-name input", name)
    visit.page.click(f"#vs-card-{card} .vs-keep-button")


def chosen(visit: Visit, name: str) -> None:
    visit.page.wait_for_selector(f"#vs-kept-list label.selected:has-text('{name}')")


def test_keep_speak_rename_delete_undo(visit: Visit, chromium: Any, site: str) -> None:
    page = visit.page
    visit.generate("A sentence.")
    page.wait_for_selector("#vs-card-3 .play-pause-button")
    page.wait_for_selector("#vs-generate:enabled")
    keep(visit, "Ann", card=2)
    chosen(visit, "Ann")
    assert "Kept as Ann." in visit.text_of("#vs-kept-message")
    page.wait_for_function("document.querySelector('#vs-card-2 .vs-keep-name input').value === ''")
    assert not page.is_visible("#vs-kept-note")

    # It speaks what stands in the text field, beside the candidates.
    page.fill("#vs-text textarea", "Other words for the voice that was kept.")
    page.click("#vs-kept-speak")
    page.wait_for_selector("#vs-kept-card .play-pause-button")
    page.wait_for_selector("#vs-kept-speak:enabled")
    assert page.is_visible("#vs-card-2 .play-pause-button")
    page.click("#vs-kept-card .play-pause-button")
    page.wait_for_selector("#vs-kept-card .play-pause-button[aria-label='Pause']")
    with page.expect_download() as download:
        page.click("#vs-kept-card .vs-save-audio")
    assert download.value.suggested_filename.endswith(".wav")

    page.fill("#vs-kept-name input", "Bea")
    page.click("#vs-kept-rename")
    chosen(visit, "Bea")

    # Whoever opens the page now finds it, in their language.
    context = chromium.new_context(locale="zh-CN")
    other = Visit(context, site)
    other.page.wait_for_selector("#vs-kept-list label:has-text('Bea')")
    assert other.text_of("#vs-kept h2") == "保存的声音"
    other.page.click("#vs-kept-list label:has-text('Bea')")
    other.page.wait_for_function("document.querySelector('#vs-kept-name input').value === 'Bea'")
    other.generate("…")  # Nothing to speak: the kept one says so as well, in its own place.
    other.page.wait_for_selector("#vs-message [role=alert]")
    other.page.click("#vs-kept-speak")
    other.page.wait_for_selector("#vs-kept-message [role=alert]")
    assert "没有可以朗读" in other.text_of("#vs-kept-message")
    assert other.problems == []
    context.close()

    page.click("#vs-kept-delete")
    page.wait_for_selector("#vs-kept-list label:has-text('Bea')", state="detached")
    assert not page.is_visible("#vs-kept-delete")
    page.click("#vs-kept-undo")
    chosen(visit, "Bea")
    assert not page.is_visible("#vs-kept-undo")
    page.click("#vs-kept-delete")
    page.wait_for_selector("#vs-kept-list label:has-text('Bea')", state="detached")


def test_a_kept_voice_can_be_cancelled(visit: Visit) -> None:
    page = visit.page
    visit.generate("A sentence.")
    page.wait_for_selector("#vs-card-3 .play-pause-button")
    keep(visit, "Slow one")
    chosen(visit, "Slow one")
    assert not page.is_visible("#vs-kept-cancel")
    page.fill("#vs-text textarea", "slow words " * 200)
    page.click("#vs-kept-speak")
    page.wait_for_function("document.querySelector('#vs-kept-progress').innerText.includes('Making')")
    page.click("#vs-kept-cancel")
    page.wait_for_selector("#vs-kept-speak:enabled", timeout=10_000)
    assert "Cancelled" in visit.text_of("#vs-kept-message")


def test_a_name_is_never_markup(visit: Visit) -> None:
    page = visit.page
    visit.generate("A sentence.")
    page.wait_for_selector("#vs-card-3 .play-pause-button")
    keep(visit, EVIL[:70])
    page.wait_for_selector("#vs-kept-list label.selected:has-text('onerror')")
    page.click("#vs-kept-delete")
    page.wait_for_selector("#vs-kept-message :text('Deleted')")
    assert page.evaluate("window.evil") is None
    assert page.locator("#vs-kept img").count() == 0


def test_a_long_list_scrolls_nothing_sideways(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 844})
    visit.generate("A sentence.")
    page.wait_for_selector("#vs-card-3 .play-pause-button")
    keep(visit, "W" * 80)
    page.wait_for_selector("#vs-kept-list label.selected:has-text('WWW')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#vs-kept-delete")
    page.wait_for_selector("#vs-kept-list label:has-text('WWW')", state="detached")
