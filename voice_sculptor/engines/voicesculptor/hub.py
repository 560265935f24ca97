"""Downloads from the model hub that stay what they are: one commit, resolved once, written down beside the files.

Only what is loaded is fetched: configuration, tokenizer and weights; never code, and no pickle where the same
weights are there as safetensors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RECORD = "download.json"
_TOKENIZER_AND_CONFIG = (".json", ".jinja")


class HubFault(Exception):
    """The hub cannot be reached, or does not have what was asked."""


@dataclass(frozen=True)
class Record:
    """What was downloaded, or is being.

    Attributes:
        repository: Owner and name on the hub.
        revision: Branch, tag or commit that was asked for; `None` is the main branch.
        commit: What that was when it was first asked.
        files: Size of each file, bytes.
    """

    repository: str
    revision: str | None
    commit: str
    files: Mapping[str, int]

    @property
    def num_bytes(self) -> int:
        """Of all files."""
        return sum(self.files.values())

    def is_of(self, revision: str | None) -> bool:
        """Whether it is what somebody who asks for a revision means; `None` takes any."""
        return revision in (None, self.revision) or self.commit.startswith(str(revision))


def read_record(folder: Path) -> Record | None:
    """What `resolve` wrote into a folder; `None` where the files came another way."""
    try:
        return Record(**json.loads((folder / RECORD).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def unfinished(folder: Path) -> str | None:
    """A file of the record that is not here whole, by its size."""
    record = read_record(folder)
    for name, size_bytes in record.files.items() if record else ():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size_bytes:
            return name
    return None


def needed(sizes: Mapping[str, int]) -> dict[str, int]:
    """Of a repository's files those that are loaded, small ones first.

    Raises:
        HubFault: There are no weights among them.
    """
    top = {name: size for name, size in sizes.items() if "/" not in name and name != RECORD}
    kinds = ("*.safetensors", "pytorch_model*.bin")
    weights = next(filter(None, ([name for name in top if Path(name).match(kind)] for kind in kinds)), [])
    if not weights:
        raise HubFault("the repository has no weights")
    small = [name for name in top if name.endswith(_TOKENIZER_AND_CONFIG)]
    unused = "pytorch_model.bin.index.json" if weights[0].endswith(".safetensors") else ""
    return {name: top[name] for name in sorted({*small, *weights} - {unused}, key=lambda name: top[name])}


def resolve(repository: str, revision: str | None, folder: Path) -> Record:
    """The commit to download into a folder: that of the record there, else what the hub says, which is written down.

    Raises:
        HubFault: The hub cannot be reached, or has no such repository or revision.
        OSError: The folder cannot be written.
    """
    if (record := read_record(folder)) is not None:
        return record
    from huggingface_hub import HfApi

    with _said():
        info = HfApi().model_info(repository, revision=revision, files_metadata=True)
    sizes = {file.rfilename: file.size for file in info.siblings or () if file.size is not None}
    if not info.sha:
        raise HubFault("the hub names no commit")
    record = Record(repository, revision, info.sha, needed(sizes))
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{RECORD}.part"
    part.write_text(json.dumps(asdict(record), indent=2) + "\n", "utf-8")
    part.replace(folder / RECORD)
    return record


def fetch(record: Record, folder: Path, add_bytes: Callable[[int], None]) -> None:
    """Download the record's files that are not there yet; a file is whole or not there.

    Args:
        record: From `resolve`.
        folder: Where to.
        add_bytes: Called as data comes; the sum of all calls is `record.num_bytes`.

    Raises:
        HubFault: The hub cannot be reached, or sent something else.
        OSError: The folder cannot be written.
    """
    from huggingface_hub import hf_hub_download

    for name, size_bytes in record.files.items():
        rest = _Rest(size_bytes, add_bytes)
        with _said():
            hf_hub_download(
                record.repository,
                name,
                revision=record.commit,
                local_dir=folder,
                tqdm_class=_counter(rest),
            )
        if (folder / name).stat().st_size != size_bytes:
            raise HubFault(f"{name} has another size than the hub says")
        rest.take(size_bytes)


@dataclass
class _Rest:
    """Bytes of a file that have not been counted yet."""

    num_bytes: int
    add_bytes: Callable[[int], None]

    def take(self, count: int) -> None:
        # After an interruption some come twice.
        count = min(count, self.num_bytes)
        self.num_bytes -= count
        self.add_bytes(count)


def _counter(rest: _Rest) -> type[Any]:
    """A progress bar for the hub's library that draws nothing and counts."""
    from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]

    class Counter(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            rest.take(int(n or 0))

    return Counter


@contextmanager
def _said() -> Iterator[None]:
    """Whatever the hub's library raises becomes a `HubFault` with its first sentence."""
    # The base of what its HTTP library raises, whichever that is.
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    try:
        yield
    except (OSError, ValueError, RuntimeError, HTTPError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk
        line = next((line.strip() for line in str(error).splitlines() if line.strip()), repr(error))
        raise HubFault(line[:200].rstrip(".")) from error
