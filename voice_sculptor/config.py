"""Settings: one schema for environment and flags.

A flag wins over the environment, the environment over the default. Variables are the field names in capitals
behind `VOICE_SCULPTOR_`, e.g. `VOICE_SCULPTOR_MAX_QUEUE=8`; `PORT` is understood as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from voice_sculptor.errors import ConfigError

PREFIX = "VOICE_SCULPTOR_"
PROJECT_DIR = Path(__file__).resolve().parent.parent
"""The checkout, where the package is not installed elsewhere."""


def _beside_or_home(name: str) -> Path:
    """`name` in the checkout; an installed package, which has none, keeps it in the user's data folder."""
    if (PROJECT_DIR / "pyproject.toml").is_file():
        return PROJECT_DIR / name
    from platformdirs import user_data_path

    return user_data_path("voice-sculptor") / name


class Settings(BaseSettings):
    """How the studio runs.

    Attributes:
        engine: Engine id, or `auto`.
        device: `auto`, `cpu`, `cuda:0` ….
        dtype: `auto`, `fp32`, `bf16` or `fp16`.
        host: Address the page binds to.
        port: Port of the page; `None` takes 7860, or 6006 where that is busy.
        checkpoints_dir: Model weights.
        presets_dir: Preset files of the user, beside those that ship; `None` for none.
        data_dir: Kept voices.
        max_queue: Most requests that wait for the device.
        concurrency: Most page events that run at once.
        max_text_chars: Longest text of one request, characters.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, populate_by_name=True)

    engine: str = "auto"
    device: str = Field("auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    dtype: str = Field("auto", pattern=r"^(auto|fp32|bf16|fp16)$")
    host: str = "127.0.0.1"
    port: int | None = Field(None, ge=1, le=65535, validation_alias=AliasChoices(PREFIX + "PORT", "port"))
    checkpoints_dir: Path = Field(
        default_factory=lambda: _beside_or_home("checkpoints"),
        validation_alias=AliasChoices(PREFIX + "CHECKPOINTS_DIR", PREFIX + "CHECKPOINTS"),
    )
    presets_dir: Path | None = None
    data_dir: Path = Field(default_factory=lambda: _beside_or_home("data"))
    max_queue: int = Field(16, ge=1, le=10_000)
    concurrency: int = Field(2, ge=1, le=64)
    max_text_chars: int = Field(20_000, ge=1, le=1_000_000)


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
        variable = next((key for key in (PREFIX + name.upper(), name.upper()) if key in os.environ), None)
        where = f"{name} ({variable})" if variable and name not in given else name
        raise ConfigError(
            f"The setting {where} cannot be {value!r}: {first['msg']}.",
            f"设置 {where} 不能为 {value!r}：{first['msg']}。",
        ) from error
