"""YAML as people write it by hand: mappings, lists and text, nothing that builds, repeats or nests without end."""

from __future__ import annotations

from typing import Any

import yaml

_MAX_DEPTH = 4


def load_plain_yaml(content: bytes) -> Any:
    """Read a YAML document; every scalar stays text, so `no` is not a truth value nor `2001-02-03` a date.

    Args:
        content: UTF-8 (or UTF-16 with its mark); bounding the size is the caller's part.

    Raises:
        yaml.YAMLError: Not YAML, or with tags, anchors, aliases, duplicate keys or more than four levels.
    """
    return yaml.load(content, Loader=_PlainLoader)


class _PlainLoader(yaml.BaseLoader):
    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.MarkedYAMLError(
                problem="anchors and aliases are not allowed", problem_mark=event.start_mark
            )
        if getattr(event, "tag", None):
            raise yaml.MarkedYAMLError(problem="tags are not allowed", problem_mark=event.start_mark)
        if self._depth >= _MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem="nested too deeply", problem_mark=event.start_mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen:
                problem = (
                    "duplicate key" if isinstance(key, yaml.ScalarNode) else "a key that is not plain text"
                )
                raise yaml.MarkedYAMLError(
                    problem=f"{problem} {key.value!r}"[:80], problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)
