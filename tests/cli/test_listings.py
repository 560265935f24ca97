"""Listings, and commands that pass on what they are given; the language of messages."""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import DESIGN, Cli, refused
from voice_sculptor import __version__
from voice_sculptor.cli.session import language_of
from voice_sculptor.engines.kokoro import weights


def test_presets(cli: Cli) -> None:
    everything = cli("presets", "--json").document["presets"]
    assert len(everything) >= 24
    scenes = cli("presets", "--group", "scene", "--json").document["presets"]
    assert scenes == [preset for preset in everything if preset["group"] == "scene"]
    header, *rows = [line.split("\t") for line in cli("presets").out.splitlines()]
    assert header == ["id", "group", "name", "controls"]
    assert [row[0] for row in rows] == [preset["id"] for preset in everything]
    assert "pitch slightly low, pitch_variation slightly flat" in cli("presets", "show", "apology-call").out
    shown = cli("--ui-lang", "zh", "presets", "show", everything[0]["id"])
    assert everything[0]["text"]["zh"] in shown.out
    refused(cli("presets", "show", "nobody"), 3, "nobody")
    refused(cli("presets", "--group", "songs"), 2, "--group")


def test_presets_of_the_user(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_SCULPTOR_PRESETS_DIR", str(tmp_path))
    (tmp_path / "mine.yaml").write_text(
        "group: role\nname: {zh: 我, en: Me}\ndescription: {zh: 低, en: low}\ntext: {zh: 好, en: Good}\n"
    )
    ids = [preset["id"] for preset in cli("presets", "--json").document["presets"]]
    assert {"mine", "news-anchor"} <= set(ids)
    (tmp_path / "bad.yaml").write_text("group: role\n")
    refused(cli("presets"), 2, "bad.yaml")


def test_voices(cli: Cli) -> None:
    document = cli("voices", "--engine", "fake", "--json").document
    assert document["engine"] == "fake"
    assert document["voices"][0] == {
        "name": "fake_low",
        "language": "en",
        "gender": "male",
        "measurements": {"f0_hz": 110.0},
    }
    assert cli("voices", "--engine", "fake").out.splitlines()[:2] == [
        "name\tlanguage\tgender\tf0_hz",
        "fake_low\ten\tmale\t110",
    ]
    refused(cli("voices", "--engine", "nobody"), 3, "nobody")


def test_engines(cli: Cli) -> None:
    listed = {engine["id"]: engine for engine in cli("engines", "--json").document["engines"]}
    assert {"kokoro", "fake"} <= set(listed)
    fake = listed["fake"]
    assert fake["languages"] == ["zh", "en"]
    assert fake["capabilities"]["design"] is True
    assert fake["capabilities"]["controls"] == sorted(fake["capabilities"]["controls"])
    assert (fake["code_licence"], fake["weights_licence"], fake["weights_ready"]) == (
        "Apache-2.0",
        "Apache-2.0",
        True,
    )
    assert "fake\t" in cli("engines").out


def test_engines_shows_what_auto_takes_and_why(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from voice_sculptor import device

    monkeypatch.setattr(device, "gpus", lambda: ())
    monkeypatch.setenv("VOICE_SCULPTOR_ENGINE", "fake")
    assert cli("engines", "--json").document["auto"] == {"engine": "kokoro", "reason": "auto: no CUDA device"}
    header, *rows = [line.split("\t") for line in cli("engines").out.splitlines()]
    assert header[-1] == "auto"
    assert {row[0]: row[-1] for row in rows if row[-1]} == {"kokoro": "auto: no CUDA device"}
    assert "没有 CUDA 设备" in cli("--ui-lang", "zh", "engines").out
    # A checkpoint that is wrong is said, and hides nothing.
    card = device.Gpu("Card", "GPU-1", 10**11, 10**11)
    monkeypatch.setattr(device, "gpus", lambda: (card,))
    monkeypatch.setattr("voice_sculptor.engines.registry._torch_has_cuda", lambda: True)
    monkeypatch.setenv("VOICE_SCULPTOR_MODEL_DIR", str(tmp_path))
    listed = cli("engines", "--json")
    assert listed.code == 0
    assert listed.document["auto"] == {}
    assert "--model-dir" in listed.err


def test_settings_that_the_engine_does_not_use_are_said(cli: Cli, tmp_path: Path) -> None:
    flags = ("--slots", "2", "--top-k", "0", "--model-dir", tmp_path, "--json", "--out", tmp_path)
    made = cli(*DESIGN, "--n", "1", *flags)
    assert made.code == 0
    assert made.err == "Fake (tones, for tests) does not use: model_dir, top_k, slots.\n"
    made.document  # noqa: B018  # stdout is JSON alone
    speak = ("speak", "--engine", "fake", "--voice", "fake_low", "--text", "a", "--out", tmp_path / "a.wav")
    assert (
        cli("--ui-lang", "zh", *speak, "--temperature", "0.5").err
        == "Fake (tones, for tests) 不使用这些设置：temperature。\n"
    )


def test_an_engine_that_cannot_be_imported_hides_no_other(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from voice_sculptor.engines import registry

    broken = registry.EntryPoint("broken", "voice_sculptor.no_such_module:Engine", registry.GROUP)
    monkeypatch.setattr(registry, "_found", lambda: {"fake": registry._BUILT_IN[-1], "broken": broken})
    listed = cli("engines", "--json").document["engines"]
    assert [engine["id"] for engine in listed] == ["broken", "fake"]
    assert "no_such_module" in listed[0]["error"]
    assert "no_such_module" in cli("engines").out


def test_serve_passes_its_flags(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from voice_sculptor.ui import server

    calls: list[tuple[Any, bool]] = []
    monkeypatch.setattr(
        server, "serve", lambda settings, open_browser: calls.append((settings, open_browser))
    )
    flags = "--port 8080 --host 0.0.0.0 --engine fake --device cpu --dtype fp32 --max-queue 3 --concurrency 4 --open"
    assert cli("serve", *flags.split()).code == 0
    settings, open_browser = calls[0]
    assert open_browser
    assert (settings.port, settings.host, settings.engine, settings.device) == (
        8080,
        "0.0.0.0",
        "fake",
        "cpu",
    )
    assert (settings.dtype, settings.max_queue, settings.concurrency) == ("fp32", 3, 4)
    assert cli("serve").code == 0
    assert calls[1][0].port is None
    assert calls[1][0].preload is None
    flags = (
        "--gpu-id 1 --half --model-dir m --codec-dir c --max-new-tokens 100 --temperature 0.5 --top-p 0.5 --top-k 7"
        " --repetition-penalty 1.1 --slots 3 --preload"
    )
    assert cli("serve", *flags.split()).code == 0
    settings = calls[2][0]
    assert (settings.device, settings.dtype) == ("cuda:1", "fp16")
    assert (settings.model_dir, settings.codec_dir) == (Path("m"), Path("c"))
    assert (settings.max_new_tokens, settings.temperature, settings.top_p) == (100, 0.5, 0.5)
    assert (settings.top_k, settings.repetition_penalty, settings.slots) == (7, 1.1, 3)
    assert settings.preload is True
    assert cli("serve", "--no-preload").code == 0
    assert calls[3][0].preload is False
    refused(cli("serve", "--port", "99999"), 2, "port")


def test_setup_says_where_the_weights_are(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "prepare", lambda folder, progress: progress(1.0) or folder / "made")
    assert cli("setup", "--checkpoints-dir", tmp_path).out == f"{tmp_path / 'made'}\n"


@pytest.mark.parametrize("name", ["speed", "quality"])
def test_bench_passes_everything_on(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    seen: list[list[str]] = []
    module = types.ModuleType(f"voice_sculptor.bench.{name}")
    module.main = lambda args: seen.append(args)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "voice_sculptor.bench", types.ModuleType("voice_sculptor.bench"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert cli("bench", name, "--runs", "2", "--help", "x").code == 0
    assert seen == [["--runs", "2", "--help", "x"]]


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"voice-sculptor {__version__}\n"


def test_usage_errors(cli: Cli) -> None:
    refused(cli("desing"), 2, "'desing'", "'design'")
    refused(cli("design", "--text", "a"), 2, "--out", "`voice-sculptor design --help`")
    refused(cli("--ui-lang", "fr", "voices"), 2, "--ui-lang")
    chinese = cli("--ui-lang", "zh", "desing")
    refused(chinese, 2, "命令写法有误", "'design'")
    assert cli().out == cli("--help").out


def test_what_it_tells_to_run_is_what_was_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_SCULPTOR_PROGRAM", "bash run.sh")
    refused(cli("design", "--text", "a"), 2, "`bash run.sh design --help`")
    refused(
        cli("speak", "--voice", "no/voice-sculptor x", "--text", "a"),
        3,
        "`bash run.sh voices`",
        "no/voice-sculptor x",
    )
    assert "Usage: bash run.sh voices" in cli("voices", "--help").out
    assert cli("--version").out == f"voice-sculptor {__version__}\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], ["serve"]),
        (["--port", "1"], ["serve", "--port", "1"]),
        (["presets"], ["presets"]),
        (["--version"], ["--version"]),
        (["--ui-lang", "zh", "presets"], ["--ui-lang", "zh", "presets"]),
        (["--ui-lang", "zh"], ["--ui-lang", "zh", "serve"]),
        (["--ui-lang=zh", "--port", "1"], ["--ui-lang=zh", "serve", "--port", "1"]),
    ],
    ids=str,
)
def test_without_a_command_the_page_is_meant(root: Path, given: list[str], expected: list[str]) -> None:
    assert runpy.run_path(str(root / "app.py"))["arguments"](given) == expected


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
    ],
    ids=str,
)
def test_the_language_of_the_environment(environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language


def test_messages_follow_the_environment_and_the_flag(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    speak = ("speak", "--engine", "fake", "--voice", "nobody", "--text", "a")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    refused(cli(*speak), 3, "没有名为")
    refused(cli("--ui-lang", "en", *speak), 3, "There is no voice")
    monkeypatch.setenv("VOICE_SCULPTOR_UI_LANG", "en")
    refused(cli(*speak), 3, "There is no voice")


def test_a_fault_of_ours_is_a_sentence_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from voice_sculptor.engines import registry

    def broken() -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(registry, "engine_ids", broken)
    refused(cli("engines"), 1, "boom", "VOICE_SCULPTOR_DEBUG=1")
    monkeypatch.setenv("VOICE_SCULPTOR_DEBUG", "1")
    shown = cli("engines")
    assert (shown.code, shown.out) == (1, "")
    assert "Traceback" in shown.err
