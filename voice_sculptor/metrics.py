"""What is counted and measured while the studio serves, as Prometheus series; names and units in one place.

`rtf` is wall time over audio duration: lower is faster. `ttfa` is the time from a request's acceptance to its first
audio.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from voice_sculptor.errors import VoiceSculptorError

REGISTRY = CollectorRegistry()
"""This project's series; the process-wide default registry is left to whoever embeds the studio."""

_PREFIX = "voice_sculptor"
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

REQUESTS = Counter(
    "requests", "Requests that ended, by how", ("engine", "outcome"), namespace=_PREFIX, registry=REGISTRY
)
"""`outcome`: `done`, `cancelled`, `refused` (never begun) or `failed`."""
ERRORS = Counter(
    "errors", "Errors that were answered, by class", ("kind",), namespace=_PREFIX, registry=REGISTRY
)
CANCELS = Counter("cancels", "Requests cancelled by their callers", namespace=_PREFIX, registry=REGISTRY)
OUT_OF_MEMORY = Counter(
    "out_of_memory", "Times the device ran out of memory", namespace=_PREFIX, registry=REGISTRY
)
QUEUE = Gauge("queue_requests", "Requests that wait for the device", namespace=_PREFIX, registry=REGISTRY)
RUNNING = Gauge("running_requests", "Requests on the device", namespace=_PREFIX, registry=REGISTRY)
WAIT_S = Histogram(
    "wait_seconds", "From acceptance to the device", namespace=_PREFIX, registry=REGISTRY, buckets=_SECONDS
)
TTFA_S = Histogram(
    "ttfa_seconds",
    "From acceptance to the first audio",
    namespace=_PREFIX,
    registry=REGISTRY,
    buckets=_SECONDS,
)
RTF = Histogram(
    "rtf",
    "Wall time over audio duration, per candidate",
    ("engine",),
    namespace=_PREFIX,
    registry=REGISTRY,
    buckets=(0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 4, 8),
)
BATCH_SIZE = Histogram(
    "batch_size",
    "Requests per batch",
    namespace=_PREFIX,
    registry=REGISTRY,
    buckets=(1, 2, 3, 4, 6, 8, 12, 16, 32),
)
MEMORY_BYTES = Gauge(
    "memory_bytes", "Memory in use, by part", ("device", "part"), namespace=_PREFIX, registry=REGISTRY
)
"""`part` as in `scheduling.memory.PARTS`, and `total`."""
MEMORY_CHANGES = Counter(
    "memory_changes",
    "What the memory governor did",
    ("change",),
    namespace=_PREFIX,
    registry=REGISTRY,
)
"""`change`: `smaller` or `larger` batches, `paused`, `resumed`, `let_through`, `refused`, `unloaded`."""
BATCH_LIMIT = Gauge(
    "batch_limit", "Most requests that the memory allows in a batch", namespace=_PREFIX, registry=REGISTRY
)
CACHE = Counter(
    "cache_lookups", "Lookups in caches", ("cache", "result"), namespace=_PREFIX, registry=REGISTRY
)


def count_error(error: VoiceSculptorError) -> None:
    """Count an error that answers a request; one may answer several. `was_counted` tells whoever answers later."""
    ERRORS.labels(error.kind).inc()
    error.was_counted = True
