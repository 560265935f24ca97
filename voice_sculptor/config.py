"""Settings: one schema for flags, environment and file.

A flag wins over the environment, the environment over the file, the file over the default. Variables are the field
names in capitals behind `VOICE_SCULPTOR_`, e.g. `VOICE_SCULPTOR_MAX_QUEUE=8`; `PORT` is understood as well. The file is
the one that was named (`--config`, `VOICE_SCULPTOR_CONFIG`), a profile that ships (`--profile`,
`VOICE_SCULPTOR_PROFILE`), or `config/optimization.yaml` in the checkout.

Settings of engines are in `ENGINE_SETTINGS`. An engine names those it reads in `EngineInfo.settings`; what was given
and is not read is said.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from voice_sculptor import access, config_file
from voice_sculptor.config_file import Entry
from voice_sculptor.errors import ConfigError
from voice_sculptor.faults import said

PREFIX = "VOICE_SCULPTOR_"
ENGINE_SETTINGS = (
    "model_dir",
    "codec_dir",
    "model_revision",
    "codec_revision",
    "max_new_tokens",
    "temperature",
    "top_p",
    "top_k",
    "repetition_penalty",
    "slots",
    "cuda_graph",
)
"""Settings that only some engines read; each is `None` unless it was given."""
SECRETS = ("api_keys", "page_login")
"""Settings whose values are shown to nobody."""
PROJECT_DIR = Path(__file__).resolve().parent.parent
"""The checkout, where the package is not installed elsewhere."""


def _beside_or_home(name: str) -> Path:
    """`name` in the checkout; an installed package, which has none, keeps it in the user's data folder."""
    if (PROJECT_DIR / "pyproject.toml").is_file():
        return PROJECT_DIR / name
    from platformdirs import user_data_path

    return user_data_path("voice-sculptor") / name


Listed = Annotated[tuple[str, ...], NoDecode, BeforeValidator(access.split)]
"""Several values, between commas or spaces in the environment."""


class Settings(BaseSettings):
    """How the studio runs.

    Attributes:
        engine: Engine id, or `auto`.
        device: `auto`, `cpu`, `cuda:0` ….
        dtype: `auto`, `fp32`, `bf16` or `fp16`.
        gpu_id: Number of the CUDA device; sets `device` to `cuda:N`.
        half: Sets `dtype` to `fp16`.
        host: Address the page binds to.
        port: Port of the page; `None` takes 7860, or 6006 where that is busy.
        checkpoints_dir: Model weights.
        presets_dir: Preset files of the user, beside those that ship; `None` for none.
        data_dir: The library: kept voices, and the history of what was made.
        history_days: How long the history goes back, days, 0–3650; 0 keeps none.
        history_bytes: Most bytes that the history takes, the oldest make room; 0 keeps none.
        max_queue: Most requests that wait for the device.
        batch_window_ms: Longest wait for company between two batches, milliseconds; 0 for none.
        concurrency: Most page events that run at once.
        max_text_chars: Longest text of one request, characters.
        preload: Load the engine whole at the start (`True`) or when it is first needed (`False`); `None` leaves it to
            the engine: the page loads it at once, save the parts that the engine itself puts off.
        model_dir: Folder of the engine's model; `None` looks in `checkpoints_dir`.
        codec_dir: Folder of the engine's audio codec; alike.
        model_revision: Branch, tag or commit of the model to download.
        codec_revision: The same of the codec.
        max_new_tokens: Most tokens of one pass, 64–4096; as all below, `None` takes the engine's own default.
        temperature: Of sampling, over 0, up to 2.
        top_p: Share of the probability that is sampled from, over 0, up to 1.
        top_k: Number of tokens that are sampled from, 0–1000; 0 takes all.
        repetition_penalty: 1–2; 1 is none.
        slots: Candidates that are made side by side, 1–64.
        cuda_graph: Record a step of decoding once on a graphics card and replay it; `None` does.
        max_concurrent_requests: Most requests on the device at once; `None` leaves it to the engine.
        max_batch_size: Most requests of one batch; `None` takes the engine's own bound.
        api_keys: Keys of the HTTP API, plain or as `sha256:…`; kept as the latter. None leaves it open.
        api_keys_file: More of them, one a line.
        page_login: Logins of the page, `USER:PASSWORD` or `USER:sha256:…`; kept as the latter. None leaves it open.
        allow_ip: Networks whose clients are answered; none answers all.
        allow_hosts: Names by which the server may be called; `*` for any. None is the loopback names where it listens
            there, has no login and no trusted proxy, and else any.
        trusted_proxies: Networks of proxies whose `X-Forwarded-…` headers count.
        cors_origins: Origins of other sites whose scripts may read answers; none is the safe default.
        rate_limit: Requests a minute that one client may start; `None` for any number.
        root_path: Path under which a proxy shows this server, e.g. `/voice`.
        max_body_bytes: Longest body of one HTTP request.
        memory_warning_percent: Use of the device's memory from which batches get smaller.
        memory_critical_percent: Use from which no request begins.
        memory_recovery_percent: Use below which batches grow again and requests begin.
        idle_unload_s: Seconds without a request after which the engine is unloaded; `None` keeps it.
        expandable_segments: Let torch's allocator on a CUDA device grow its segments, which splits memory up less.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, populate_by_name=True)

    engine: str = "auto"
    device: str = Field("auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    dtype: str = Field("auto", pattern=r"^(auto|fp32|bf16|fp16)$")
    gpu_id: int | None = Field(None, ge=0, le=255)
    half: bool = False
    host: str = "127.0.0.1"
    port: int | None = Field(None, ge=1, le=65535, validation_alias=AliasChoices(PREFIX + "PORT", "port"))
    checkpoints_dir: Path = Field(
        default_factory=lambda: _beside_or_home("checkpoints"),
        validation_alias=AliasChoices(PREFIX + "CHECKPOINTS_DIR", PREFIX + "CHECKPOINTS"),
    )
    presets_dir: Path | None = None
    data_dir: Path = Field(default_factory=lambda: _beside_or_home("data"))
    history_days: float = Field(30.0, ge=0.0, le=3650.0)
    history_bytes: int = Field(1_000_000_000, ge=0, le=10**15)
    max_queue: int = Field(16, ge=1, le=10_000)
    batch_window_ms: float = Field(50.0, ge=0.0, le=10_000.0)
    concurrency: int = Field(2, ge=1, le=64)
    max_text_chars: int = Field(20_000, ge=1, le=1_000_000)
    preload: bool | None = None
    model_dir: Path | None = None
    codec_dir: Path | None = None
    model_revision: str | None = Field(None, min_length=1)
    codec_revision: str | None = Field(None, min_length=1)
    max_new_tokens: int | None = Field(None, ge=64, le=4096)
    temperature: float | None = Field(None, gt=0.0, le=2.0)
    top_p: float | None = Field(None, gt=0.0, le=1.0)
    top_k: int | None = Field(None, ge=0, le=1000)
    repetition_penalty: float | None = Field(None, ge=1.0, le=2.0)
    slots: int | None = Field(None, ge=1, le=64)
    cuda_graph: bool | None = None
    max_concurrent_requests: int | None = Field(None, ge=1, le=10_000)
    max_batch_size: int | None = Field(None, ge=1, le=64)
    api_keys: Annotated[Listed, AfterValidator(access.hashed_keys)] = ()
    api_keys_file: Path | None = None
    page_login: Annotated[Listed, AfterValidator(access.hashed_logins)] = ()
    allow_ip: Annotated[Listed, AfterValidator(access.networks)] = ()
    allow_hosts: Annotated[Listed, AfterValidator(access.hosts)] = ()
    trusted_proxies: Annotated[Listed, AfterValidator(access.networks)] = ()
    cors_origins: Annotated[Listed, AfterValidator(access.origins)] = ()
    rate_limit: int | None = Field(None, ge=1, le=1_000_000)
    root_path: Annotated[str, AfterValidator(access.root_path)] = ""
    max_body_bytes: int = Field(8_000_000, ge=1_000, le=1_000_000_000)
    memory_warning_percent: float = Field(90.0, gt=0.0, le=100.0)
    memory_critical_percent: float = Field(95.0, gt=0.0, le=100.0)
    memory_recovery_percent: float = Field(85.0, gt=0.0, le=100.0)
    idle_unload_s: float | None = Field(None, ge=1.0, le=604_800.0)
    expandable_segments: bool = True

    @model_validator(mode="after")
    def _resolve(self) -> Settings:
        """`gpu_id` and `half` are other words for a device and a type: readers look at those only."""
        if self.gpu_id is not None:
            named = f"cuda:{self.gpu_id}"
            if self.device not in ("auto", "cuda", named):
                raise _contradiction(f"gpu_id={self.gpu_id}", f"device={self.device}")
            object.__setattr__(self, "device", named)
        if self.half:
            if self.dtype not in ("auto", "fp16"):
                raise _contradiction("half", f"dtype={self.dtype}")
            if self.device == "cpu":
                raise ConfigError(
                    "half=true (fp16) cannot be used on a CPU.",
                    "half=true（fp16）不能在 CPU 上使用。",
                    fix_en="Leave --half out: a CPU speaks in fp32 or bf16.",
                    fix_zh="请去掉 --half：CPU 使用 fp32 或 bf16。",
                )
            object.__setattr__(self, "dtype", "fp16")
        steps = (self.memory_recovery_percent, self.memory_warning_percent, self.memory_critical_percent)
        if not steps[0] < steps[1] < steps[2]:
            figures = (
                "memory_recovery_percent={:g}, memory_warning_percent={:g}, memory_critical_percent={:g}"
            )
            raise ConfigError(
                f"These settings have to rise: {figures.format(*steps)}.",
                f"这些设置必须依次增大：{figures.format(*steps)}。",
                fix_en="The defaults are 85, 90 and 95.",
                fix_zh="默认值为 85、90、95。",
            )
        return self

    def unused(self, read: frozenset[str]) -> tuple[str, ...]:
        """Engine settings that were given, but that an engine which reads these does not know."""
        return tuple(name for name in ENGINE_SETTINGS if getattr(self, name) is not None and name not in read)


@dataclass(frozen=True)
class Source:
    """Where a value came from.

    Attributes:
        kind: Which of the four.
        name: The flag, the variable, or file and key; empty for a default.
    """

    kind: Literal["flag", "environment", "file", "default"]
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.kind


@dataclass(frozen=True)
class Resolved:
    """Settings, and where each came from.

    Attributes:
        settings: What holds.
        sources: By field.
        file: The file that was read, if any.
        is_file_chosen: Whether that, or a profile, was named.
    """

    settings: Settings
    sources: Mapping[str, Source]
    file: Path | None = None
    is_file_chosen: bool = False


def load_settings(**flags: Any) -> Settings:
    """Settings from flags, environment, file and defaults.

    Args:
        flags: As for `resolve`.

    Raises:
        ConfigError: As `resolve`.
    """
    return resolve(**flags).settings


def resolve(*, config: Path | str | None = None, profile: str | None = None, **flags: Any) -> Resolved:
    """Settings from flags, environment, file and defaults, and where each came from.

    Args:
        config: The file; `None` looks in the environment, then for the one in the checkout.
        profile: Name of a file that ships, or `auto` for the one that is recommended for this machine's card.
        flags: Fields of `Settings`; one that is `None` counts as not given.

    Raises:
        ConfigError: A value is wrong, the file is, or two things contradict each other; the sentence names it.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    variables = _variables()
    file = _file(config, profile)
    above = given.keys() | variables.keys()
    entries = {
        name: entry
        for name, entry in (config_file.read(file, Settings.model_fields) if file else {}).items()
        if name not in above and _OTHER_WORDS.get(name) not in above
    }
    try:
        settings = Settings(**{name: _plain(name, entry) for name, entry in entries.items()}, **given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "?"
        value = first.get("input")
        shown = "…" if name in SECRETS else repr(value)
        variable = next((key for key in (PREFIX + name.upper(), name.upper()) if key in os.environ), None)
        where = f"{name} ({variable})" if variable and name not in given else name
        if name in entries:
            where = f"{entries[name].place} ({file})"
        en, zh = said(first)
        raise ConfigError(
            f"The setting {where} cannot be {shown}: it {en}.",
            f"设置 {where} 不能为 {shown}：{zh}。",
        ) from (None if name in SECRETS else error)
    sources = {name: Source("default") for name in Settings.model_fields}
    sources |= {name: Source("file", f"{file}: {entry.place}") for name, entry in entries.items()}
    sources |= {name: Source("environment", variable) for name, variable in variables.items()}
    sources |= {name: Source("flag", "--" + name.replace("_", "-")) for name in given}
    if settings.gpu_id is not None:
        sources["device"] = sources["gpu_id"]
    if settings.half:
        sources["dtype"] = sources["half"]
    return Resolved(settings, sources, file, file is not None and file != _usual_file())


def shipped_config_dir() -> Path:
    """Folder of the settings files that ship with the product."""
    installed = Path(__file__).with_name("_config")
    return installed if installed.is_dir() else PROJECT_DIR / "config"


_OTHER_WORDS = {"half": "dtype", "dtype": "half", "gpu_id": "device", "device": "gpu_id"}
"""A flag or variable for the one makes the file's word for the other void."""


def _file(config: Path | str | None, profile: str | None) -> Path | None:
    """The file to read: named by flag, else by variable, else the one in its usual place."""
    if not (config or profile):
        config, profile = (os.environ.get(PREFIX + name) for name in ("CONFIG", "PROFILE"))
    if config and profile:
        raise _contradiction(f"config={config}", f"profile={profile}")
    if profile == "auto":
        from voice_sculptor.device import gpus

        sizes = [card.total_bytes for card in gpus()]
        profile = config_file.recommended_profile(max(sizes, default=0))
    if profile:
        return config_file.profile_path(profile, shipped_config_dir())
    if config:
        return Path(config)
    usual = _usual_file()
    return usual if usual.is_file() else None


def _usual_file() -> Path:
    if (PROJECT_DIR / "pyproject.toml").is_file():
        return PROJECT_DIR / "config" / config_file.NAME
    from platformdirs import user_config_path

    return user_config_path("voice-sculptor") / config_file.NAME


def _variables() -> dict[str, str]:
    """The variable that gives a field, by field; of two names for one the first counts."""
    found = {}
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names = alias.choices if isinstance(alias, AliasChoices) else [PREFIX + name]
        # As pydantic-settings reads them: whatever their case.
        there = {variable.lower(): variable for variable in os.environ}
        known = [there[str(each).lower()] for each in names if str(each).lower() in there]
        if known:
            found[name] = known[0]
    return found


def _plain(name: str, entry: Entry) -> Any:
    """A value of the file; folders may begin with `~`, which no shell has resolved there."""
    is_folder = name.endswith("_dir") and isinstance(entry.value, str)
    return Path(entry.value).expanduser() if is_folder else entry.value


def _contradiction(one: str, other: str) -> ConfigError:
    return ConfigError(
        f"The settings {one} and {other} contradict each other.",
        f"设置 {one} 与 {other} 相互矛盾。",
        fix_en="Give one of them.",
        fix_zh="请只给其中一个。",
    )
