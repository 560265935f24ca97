"""Settings from a file: what wins over what, what is refused, and the files that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice_sculptor import config, config_file, device
from voice_sculptor.config import Settings, load_settings, resolve
from voice_sculptor.engines.voicesculptor.engine import VoiceSculptorEngine
from voice_sculptor.errors import ConfigError

GB = 10**9


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text("memory_management:\n  max_queue: 5\n  preallocate_memory: yes\n")
    return path


def _written(folder: Path, text: str) -> Path:
    path = folder / "written.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the folders that tests write to."""
    for name in ("VOICE_SCULPTOR_DATA_DIR", "VOICE_SCULPTOR_CHECKPOINTS"):
        monkeypatch.delenv(name, raising=False)


def test_the_default_where_nothing_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(config, "_usual_file", lambda: tmp_path / "none.yaml")
    found = resolve()
    assert found.settings.max_queue == Settings().max_queue == 16
    assert found.file is None
    assert {str(source) for source in found.sources.values()} == {"default"}
    assert set(found.sources) == set(Settings.model_fields)


def test_the_file_over_the_default(file: Path) -> None:
    found = resolve(config=file)
    assert (found.settings.max_queue, found.settings.preload) == (5, True)
    assert str(found.sources["max_queue"]) == f"{file}: memory_management.max_queue"
    assert str(found.sources["preload"]) == f"{file}: memory_management.preallocate_memory"
    assert str(found.sources["top_p"]) == "default"


def test_the_environment_over_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_SCULPTOR_MAX_QUEUE", "8")
    found = resolve(config=file)
    assert found.settings.max_queue == 8
    assert str(found.sources["max_queue"]) == "VOICE_SCULPTOR_MAX_QUEUE"


def test_a_flag_over_both(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_SCULPTOR_MAX_QUEUE", "8")
    found = resolve(config=file, max_queue=9)
    assert found.settings.max_queue == 9
    assert str(found.sources["max_queue"]) == "--max-queue"
    assert resolve(config=file, max_queue=None).settings.max_queue == 8


@pytest.mark.parametrize("variable", ["PORT", "VOICE_SCULPTOR_PORT", "voice_sculptor_port"])
def test_the_source_is_the_variable_that_was_read(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "8080")
    found = resolve()
    assert found.settings.port == 8080
    assert str(found.sources["port"]) == variable


def test_which_file_is_read(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = _written(tmp_path, "memory_management: {max_queue: 3}")
    monkeypatch.setattr(config, "_usual_file", lambda: usual)
    assert load_settings().max_queue == 3
    monkeypatch.setenv("VOICE_SCULPTOR_CONFIG", str(file))
    assert load_settings().max_queue == 5
    assert load_settings(profile="24gb").max_queue == 32
    monkeypatch.delenv("VOICE_SCULPTOR_CONFIG")
    monkeypatch.setenv("VOICE_SCULPTOR_PROFILE", "48gb")
    assert load_settings().max_queue == 64
    assert load_settings(config=file).max_queue == 5


def test_a_profile_is_a_file_and_there_is_one_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="contradict"):
        load_settings(config=file, profile="8gb")
    monkeypatch.setenv("VOICE_SCULPTOR_CONFIG", str(file))
    monkeypatch.setenv("VOICE_SCULPTOR_PROFILE", "8gb")
    with pytest.raises(ConfigError, match="contradict"):
        load_settings()


@pytest.mark.parametrize(
    ("text", "flags", "expected"),
    [
        ("model_optimization: {half_precision: true, device: cuda}", {"dtype": "bf16"}, ("cuda", "bf16")),
        ("model_optimization: {dtype: bf16}", {"half": True, "device": "cuda"}, ("cuda", "fp16")),
        ("model_optimization: {gpu_id: 1}", {"device": "cpu"}, ("cpu", "auto")),
        ("model_optimization: {device: cpu}", {"gpu_id": 2}, ("cuda:2", "auto")),
        ("model_optimization: {gpu_id: 1, half_precision: on}", {}, ("cuda:1", "fp16")),
    ],
)
def test_a_flag_makes_the_files_other_word_void(
    tmp_path: Path, text: str, flags: dict[str, object], expected: tuple[str, str]
) -> None:
    settings = load_settings(config=_written(tmp_path, text), **flags)
    assert (settings.device, settings.dtype) == expected


def test_the_source_of_what_another_word_sets(tmp_path: Path) -> None:
    found = resolve(config=_written(tmp_path, "model_optimization: {half_precision: true}"), gpu_id=1)
    assert str(found.sources["dtype"]).endswith("model_optimization.half_precision")
    assert str(found.sources["device"]) == "--gpu-id"


@pytest.mark.parametrize("nothing", ["auto", "", "null", "~", '""'])
def test_what_is_left_open_is_the_default(tmp_path: Path, nothing: str) -> None:
    path = _written(
        tmp_path, f"memory_management: {{max_queue: {nothing}}}\ninference_params:\nserver: {nothing}"
    )
    found = resolve(config=path)
    assert found.settings.max_queue == 16
    assert str(found.sources["max_queue"]) == "default"


def test_folders_may_be_in_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("VOICE_SCULPTOR_CHECKPOINTS", raising=False)
    path = _written(tmp_path, "server: {checkpoints_dir: ~/weights, data_dir: kept}")
    settings = load_settings(config=path)
    assert (settings.checkpoints_dir, settings.data_dir) == (tmp_path / "weights", Path("kept"))


def test_every_setting_can_stand_in_a_file(tmp_path: Path) -> None:
    sections = config_file._sections(Settings.model_fields)
    placed = [field for keys in sections.values() for field in keys.values()]
    assert sorted(placed) == sorted(Settings.model_fields)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "memory_managment: {max_queue: 5}",
            ("memory_managment", "Did you mean memory_management", "server"),
        ),
        ("memory_management: {max_que: 5}", ("memory_management.max_que", "max_queue", "slots")),
        ("inference_params: {max_queue: 5}", ("inference_params.max_queue", "temperature")),
        ("server: {slots: 5}", ("server.slots", "host")),
        ("memory_management: {max_queue: many}", ("memory_management.max_queue", "'many'")),
        ("memory_management: {max_queue: [1]}", ("memory_management.max_queue", "['1']")),
        ("memory_management: {warning_percent: 99}", ("memory_warning_percent=99", "rise")),
        ("model_optimization: {half_precision: maybe}", ("model_optimization.half_precision", "'maybe'")),
        ("inference_params: {temperature: .nan}", ("inference_params.temperature", "'.nan'")),
        ("memory_management: 5", ("memory_management", "no keys")),
        ("- a\n- b", ("sections",)),
        ("a: &x 1\nb: *x", ("anchors",)),
        ("server: {port: 1, port: 2}", ("duplicate key 'port'",)),
        ("server: !!python/object:os.system {}", ("tags",)),
        ("server: {", ("written.yaml",)),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(config=_written(tmp_path, text))
    for part in parts:
        assert part in refused.value.message()
    assert refused.value.message("zh")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("model_optimization: {gradient_checkpointing: true}", "training"),
        ("model_optimization: {use_flash_attention: true}", "fastest kernel"),
        ("model_optimization: {compile: true}", "compiled"),
        ("model_optimization: {load_in_8bit: true}", "int8"),
        ("memory_management: {memory_pool_size: 4}", "caching allocator"),
        ("memory_management: {cpu_offload: true}", "idle_unload_s"),
        ("inference_params: {seed: 42}", "request"),
        ("inference_params: {chunk_length: 200}", "request"),
    ],
)
def test_what_means_nothing_here_is_refused_with_the_reason(tmp_path: Path, place: str, reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(config=_written(tmp_path, place))
    assert reason in refused.value.message()
    assert "has no meaning here" in refused.value.message()
    assert "没有意义" in refused.value.message("zh")


def test_no_refused_key_is_a_valid_one() -> None:
    for keys in config_file._sections(Settings.model_fields).values():
        assert not keys.keys() & config_file._MEANINGLESS.keys()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\xd8" * 9)
    (tmp_path / "long").write_bytes(b"#" * 64_001)
    for name in ("missing.yaml", "binary", "long", "."):
        with pytest.raises(ConfigError) as refused:
            load_settings(config=tmp_path / name)
        assert str(tmp_path) in refused.value.message("zh")


def test_the_file_that_ships_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in it are the defaults, every key included."""
    monkeypatch.delenv("VOICE_SCULPTOR_CHECKPOINTS", raising=False)
    shipped = root / "config" / config_file.NAME
    assert config._usual_file() == shipped
    assert load_settings(config=shipped) == Settings()
    text = shipped.read_text("utf-8")
    for section, keys in config_file.SECTIONS.items():
        assert f"\n{section}:" in text
        for key in keys:
            assert f"\n  {key}: " in text


@pytest.mark.parametrize("name", config_file.profile_names())
def test_profiles(name: str, root: Path) -> None:
    found = resolve(profile=name)
    assert found.file == root / "config/profiles" / f"{name}.yaml"
    assert found.settings.preload is True
    assert f"--profile {name}" in found.file.read_text("utf-8")


@pytest.mark.parametrize("size_gb", config_file.PROFILE_SIZES_GB[2:])
def test_profiles_fit_their_cards_as_computed(size_gb: int) -> None:
    """As docs/configuration.md has it: weights, the cache of all slots, and 2 GB, under the warning."""
    settings = load_settings(profile=f"{size_gb}gb")
    info = VoiceSculptorEngine.info
    assert settings.slots is not None
    assert settings.max_new_tokens is not None
    decoder_tokens = 1024 + 2 * settings.max_new_tokens
    cache_bytes = settings.slots * decoder_tokens * info.bytes_per_token
    needed_bytes = info.weights_bytes + cache_bytes + 2 * GB
    assert needed_bytes < size_gb * GB * settings.memory_warning_percent / 100.0
    figure = f"{cache_bytes / 1e9:.1f} GB of cache"
    assert figure in (config.shipped_config_dir() / f"profiles/{size_gb}gb.yaml").read_text("utf-8")


def test_every_profile_that_ships_is_known(root: Path) -> None:
    shipped = {path.stem for path in (root / "config/profiles").iterdir()}
    assert shipped == set(config_file.profile_names())


def test_an_unknown_profile_names_the_valid_ones() -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(profile="../../etc/passwd")
    for language in ("en", "zh"):
        assert "24gb" in refused.value.message(language)


@pytest.mark.parametrize(
    ("total_bytes", "name"),
    [
        (0, None),
        (4_294_967_296, None),
        (6_225_002_496, "6gb"),
        (8_589_934_592, "8gb"),
        (11_811_160_064, "12gb"),
        (12_884_901_888, "12gb"),
        (16_900_000_000, "16gb"),
        (25_757_220_864, "24gb"),
        (34_000_000_000, "24gb"),
        (51_000_000_000, "48gb"),
        (150_000_000_000, "48gb"),
    ],
)
def test_the_profile_for_a_card(total_bytes: int, name: str | None) -> None:
    assert config_file.recommended_profile(total_bytes) == name


def test_the_profile_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "gpus", lambda: (device.Gpu("small", "1", 6 * GB, GB), _card(16)))
    assert resolve(profile="auto").file == config.shipped_config_dir() / "profiles/16gb.yaml"
    monkeypatch.setattr(device, "gpus", lambda: ())
    assert resolve(profile="auto").file == config._usual_file()


def _card(size_gb: int) -> device.Gpu:
    return device.Gpu("card", "2", size_gb * GB, size_gb * GB)


def test_an_installed_package_has_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "voice_sculptor"
    (package / "_config/profiles").mkdir(parents=True)
    (package / "_config/profiles/8gb.yaml").write_text("memory_management: {max_queue: 7}")
    monkeypatch.setattr(config, "__file__", str(package / "config.py"))
    monkeypatch.setattr(config, "PROJECT_DIR", tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_settings(profile="8gb").max_queue == 7
    assert load_settings().max_queue == 16
    usual = config._usual_file()
    assert tmp_path in usual.parents
    usual.parent.mkdir(parents=True)
    usual.write_text("memory_management: {max_queue: 4}")
    assert load_settings().max_queue == 4
