"""Words of components that follow the page's language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from gradio.components import Component

from voice_sculptor.ui.strings import say

Words = Callable[[str], dict[str, Any]]


@dataclass
class Labels:
    """Components whose words follow the page's language."""

    entries: list[tuple[Component, Words]] = field(default_factory=list)

    def add(self, kind: Callable[..., Any], words: Words, **rest: Any) -> Any:
        """Make a component with English words and remember how to say them otherwise."""
        component = kind(**words("en"), **rest)
        self.entries.append((component, words))
        return component

    @property
    def components(self) -> list[Component]:
        """In the order of `updates`."""
        return [component for component, _ in self.entries]

    def updates(self, language: str) -> list[Any]:
        """New words for each of `components`."""
        return [gr.update(**words(language)) for _, words in self.entries]


def named(key: str) -> Words:
    """Words of a field: its label."""
    return lambda lang: {"label": say(key, lang)}


def titled(key: str) -> Words:
    """Words of a button: its value."""
    return lambda lang: {"value": say(key, lang)}
