"""How much memory the tensors of a loaded model hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def held_bytes(*roots: Any) -> int:
    """Bytes of all tensors that can be reached from these objects through attributes and containers, each once.

    Args:
        roots: Modules, or plain objects that hold tensors.
    """
    import torch

    total_bytes, waiting = 0, list(roots)
    seen: set[int] = set()
    storages: set[int] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, torch.Tensor):
            storage = each.untyped_storage()
            if storage.data_ptr() not in storages:
                storages.add(storage.data_ptr())
                total_bytes += storage.nbytes()
            continue
        if isinstance(each, str | bytes | type) or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, list | tuple | set | frozenset):
            waiting += each
        else:
            waiting += getattr(each, "__dict__", {}).values()
            waiting += [getattr(each, name, None) for name in getattr(each, "__slots__", ())]
    return total_bytes
