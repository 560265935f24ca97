"""A model hub on this machine: what of its protocol a download uses, and files of a few bytes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from voice_sculptor.engines.voicesculptor import weights

MODEL_FILES = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.json": b"{}",
    "tokenizer_config.json": b'{"chat_template": ""}',
    "chat_template.jinja": b"x",
    "model.safetensors.index.json": json.dumps(
        {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    ).encode(),
    "model-00001-of-00002.safetensors": b"1" * 200_000,
    "model-00002-of-00002.safetensors": b"2" * 100_000,
    "pytorch_model.bin": b"pickle",
    "pytorch_model.bin.index.json": b"{}",
    "modeling_llasa.py": b"raise SystemExit",
    "README.md": b"licence",
    "original/params.json": b"{}",
}
MODEL_WANTED = [
    *["chat_template.jinja", "config.json", "model-00001-of-00002.safetensors"],
    *["model-00002-of-00002.safetensors", "model.safetensors.index.json", "tokenizer.json"],
    "tokenizer_config.json",
]
CODEC_FILES = {
    "config.json": b'{"model_type": "xcodec2"}',
    "model.safetensors": b"3" * 50_000,
    "preprocessor_config.json": b"{}",
}


@dataclass
class LocalHub:
    """What it has and what was asked of it.

    Attributes:
        repositories: Files by name, by commit, by repository.
        branches: Commit by branch, by repository.
        asked: Paths of all requests, in order.
        broken: Names of files that are listed, but cannot be had.
        url: Where it listens.
    """

    repositories: dict[str, dict[str, dict[str, bytes]]] = field(default_factory=dict)
    branches: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    url: str = ""

    def push(self, repository: str, files: dict[str, bytes], branch: str = "main") -> str:
        """A new commit on a branch; returns its hash."""
        commits = self.repositories.setdefault(repository, {})
        commit = hashlib.sha1(f"{repository}{branch}{len(commits)}".encode()).hexdigest()
        commits[commit] = files
        self.branches.setdefault(repository, {})[branch] = commit
        return commit

    def commit(self, repository: str, revision: str) -> str | None:
        """Of a branch or a commit."""
        found = self.branches.get(repository, {}).get(revision, revision)
        return found if found in self.repositories.get(repository, {}) else None


@contextmanager
def serving() -> Iterator[LocalHub]:
    """A hub with both repositories, while the block lasts."""
    hub = LocalHub()
    hub.push(weights.MODEL.id, MODEL_FILES)
    hub.push(weights.CODEC.id, CODEC_FILES)

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(sends=False)

        def do_GET(self) -> None:
            self._answer(sends=True)

        def log_message(self, *args: object) -> None:
            pass

        def _answer(self, sends: bool) -> None:
            path = urlsplit(self.path).path
            hub.asked.append(f"{self.command} {path}")
            parts = path.strip("/").split("/")
            if parts[:2] == ["api", "models"]:
                repository, revision = "/".join(parts[2:4]), parts[5] if len(parts) > 5 else "main"
                commit = hub.commit(repository, revision)
                if commit is None:
                    self.send_error(404)
                    return
                files = hub.repositories[repository][commit]
                siblings = [{"rfilename": name, "size": len(data)} for name, data in files.items()]
                body, etag = json.dumps({"id": repository, "sha": commit, "siblings": siblings}).encode(), "-"
            else:
                repository, commit, name = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
                body = hub.repositories[repository][commit][name]
                etag = hashlib.sha256(body).hexdigest()
                if name in hub.broken and sends:
                    self.send_error(404)
                    return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/json")
            self.send_header("ETag", f'"{etag}"')
            self.send_header("X-Repo-Commit", str(commit))
            self.end_headers()
            if sends:
                self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        hub.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
