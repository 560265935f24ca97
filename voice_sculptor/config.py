"""Settings: one schema for environment and flags.

A flag wins over the environment, the environment over the default. Variables are the field names in capitals
behind `VOICE_SCULPTOR_`, e.g. `VOICE_SCULPTOR_MAX_QUEUE=8`; `PORT` is understood as well.

Settings of engines are in `ENGINE_SETTINGS`. An engine names those it reads in `EngineInfo.settings`; what was given
and is not read is said.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from voice_sculptor import access
from voice_sculptor.errors import ConfigError

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
        max_concurrent_requests: Most requests on the device at once; `None` leaves it to the engine.
        max_batch_size: Most requests of one batch; `None` takes the engine's own bound.
        api_keys: Keys of the HTTP API, plain or as `sha256:…`; kept as the latter. None leaves it open.
        api_keys_file: More of them, one a line.
        page_login: Logins of the page, `USER:PASSWORD` or `USER:sha256:…`; kept as the latter. None leaves it open.
        allow_ip: Networks whose clients are answered; none answers all.
        trusted_proxies: Networks of proxies whose `X-Forwarded-…` headers count.
        cors_origins: Origins of other sites whose scripts may read answers; none is the safe default.
        rate_limit: Requests a minute that one client may start; `None` for any number.
        root_path: Path under which a proxy shows this server, e.g. `/voice`.
        max_body_bytes: Longest body of one HTTP request.
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
    max_concurrent_requests: int | None = Field(None, ge=1, le=10_000)
    max_batch_size: int | None = Field(None, ge=1, le=64)
    api_keys: Annotated[Listed, AfterValidator(access.hashed_keys)] = ()
    api_keys_file: Path | None = None
    page_login: Annotated[Listed, AfterValidator(access.hashed_logins)] = ()
    allow_ip: Annotated[Listed, AfterValidator(access.networks)] = ()
    trusted_proxies: Annotated[Listed, AfterValidator(access.networks)] = ()
    cors_origins: Annotated[Listed, AfterValidator(access.origins)] = ()
    rate_limit: int | None = Field(None, ge=1, le=1_000_000)
    root_path: Annotated[str, AfterValidator(access.root_path)] = ""
    max_body_bytes: int = Field(8_000_000, ge=1_000, le=1_000_000_000)

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
        return self

    def unused(self, read: frozenset[str]) -> tuple[str, ...]:
        """Engine settings that were given, but that an engine which reads these does not know."""
        return tuple(name for name in ENGINE_SETTINGS if getattr(self, name) is not None and name not in read)


def load_settings(**flags: Any) -> Settings:
    """Settings from flags, environment and defaults.

    Args:
        flags: Fields of `Settings`; one that is `None` counts as not given.

    Raises:
        ConfigError: A value is wrong; the sentence names the setting.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "?"
        value = first.get("input")
        shown = "…" if name in SECRETS else repr(value)
        variable = next((key for key in (PREFIX + name.upper(), name.upper()) if key in os.environ), None)
        where = f"{name} ({variable})" if variable and name not in given else name
        raise ConfigError(
            f"The setting {where} cannot be {shown}: {first['msg']}.",
            f"设置 {where} 不能为 {shown}：{first['msg']}。",
        ) from (None if name in SECRETS else error)


def _contradiction(one: str, other: str) -> ConfigError:
    return ConfigError(
        f"The settings {one} and {other} contradict each other.",
        f"设置 {one} 与 {other} 相互矛盾。",
        fix_en="Give one of them.",
        fix_zh="请只给其中一个。",
    )
