"""`design`, `speak` and `understand`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voice_sculptor.cli import options as opt
from voice_sculptor.cli.delivery import Saved, deliver
from voice_sculptor.cli.session import Session, print_json
from voice_sculptor.cli.texts import needed, read_text
from voice_sculptor.errors import InvalidRequest

if TYPE_CHECKING:
    from voice_sculptor.controls import Controls
    from voice_sculptor.domain import AudioFormat, Candidate, Understood, VoiceSpec
    from voice_sculptor.language.conflicts import Merged
    from voice_sculptor.studio import Studio


@opt.takes_engine_settings
def design(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results.")],
    *,
    text: opt.Text = None,
    file: opt.File = None,
    description: Annotated[
        str | None,
        typer.Option("--description", "-d", metavar="WORDS", help="The voice in words, 中文 or English."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            "-p",
            metavar="ID",
            help="Start from a preset; --set changes its controls, --text defaults to its sample text.",
        ),
    ] = None,
    settings: opt.Set = None,
    num_candidates: Annotated[
        int, typer.Option("--n", "-n", metavar="N", help="How many voices, 1 to 6.")
    ] = 3,
    seed: opt.Seed = None,
    language: opt.TextLang = "auto",
    audio_format: opt.Format = None,
    engine: opt.EngineSettings,
    as_json: opt.Json = False,
) -> None:
    """Make new voices and let each speak a text.

    Each candidate becomes NAME-SEED.wav and NAME-SEED.voice.json as soon as it is done; candidate i
    has the seed N + i.
    """
    from voice_sculptor.audio.io import SUFFIXES, encode
    from voice_sculptor.cli.output import check_folder, write_new
    from voice_sculptor.config import load_settings
    from voice_sculptor.controls import parse_controls
    from voice_sculptor.domain import safe_stem
    from voice_sculptor.library.voice_files import SUFFIX, voice_bytes
    from voice_sculptor.studio import Studio

    session: Session = ctx.obj
    run = load_settings(**engine)
    spoken = read_text(text, file)
    changes = parse_controls(settings or [])
    if preset is None:
        spec, name = _spec(description or "", changes), safe_stem(description or "")
    elif description is None:
        from voice_sculptor.cli.listings import load_book
        from voice_sculptor.language.script import has_han

        chosen = load_book(run).get(preset)
        if language != "auto":
            words_in: str = language
        else:
            words_in = session.language if spoken is None else "zh" if has_han(spoken) else "en"
        spec, name = _spec(chosen.description.get(words_in), chosen.controls.changed_by(changes)), chosen.id
        spoken = chosen.text.get(words_in) if spoken is None else spoken
    else:
        raise InvalidRequest(
            "Both --description and --preset are given.",
            "同时给出了 --description 和 --preset。",
            fix_en="Give one of them; --set changes the controls of a preset.",
            fix_zh="请只给其中一个；可用 --set 修改预设的控制项。",
        )
    suffix = SUFFIXES[audio_format or "wav"]

    def save(candidate: Candidate) -> Saved:
        audio = encode(candidate.audio, audio_format or "wav")

        def content(stem: str) -> dict[str, bytes]:
            voice = candidate.voice.model_copy(update={"name": stem})
            return {suffix: audio, SUFFIX: voice_bytes(voice)}

        stem = write_new(out, f"{name}-{candidate.seed}", content)
        return Saved(out / f"{stem}{suffix}", str(out / f"{stem}{SUFFIX}"))

    spoken = needed(spoken)
    with Studio(run) as studio:
        _say_unused(session, studio)
        check_folder(out)
        events = studio.design(spoken, spec, language=language, num_candidates=num_candidates, seed=seed)
        deliver(session, studio, events, save, as_json)


@opt.takes_engine_settings
def speak(
    ctx: typer.Context,
    voice: Annotated[
        str,
        typer.Option(
            "--voice",
            "-v",
            metavar="NAME|ID|FILE",
            help="A stock voice's name, a kept one's name or id, or a .voice.json file.",
        ),
    ],
    *,
    text: opt.Text = None,
    file: opt.File = None,
    settings: opt.Set = None,
    seed: opt.Seed = None,
    language: opt.TextLang = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE|DIR",
            help="A file ending in .wav, .mp3, .flac or .opus, replaced where it exists, or a folder;"
            " by default the current one.",
        ),
    ] = None,
    audio_format: opt.Format = None,
    engine: opt.EngineSettings,
    as_json: opt.Json = False,
) -> None:
    """Speak a text with a stock voice, a kept one or one made by `design`."""
    from voice_sculptor.audio.io import SUFFIXES, encode, write_bytes
    from voice_sculptor.cli.output import check_folder, write_new
    from voice_sculptor.config import load_settings
    from voice_sculptor.controls import parse_controls
    from voice_sculptor.domain import safe_stem
    from voice_sculptor.engines.registry import create_engine, engine_with_voice
    from voice_sculptor.library.keeping import engine_of_voice
    from voice_sculptor.studio import Studio

    session: Session = ctx.obj
    run = load_settings(**engine)
    spoken = needed(read_text(text, file))
    changes = parse_controls(settings or [])
    target, audio_format = _target(out, audio_format)
    folder = (out or Path()) if target is None else target.parent
    chosen = engine_with_voice(voice, run)
    if run.engine == "auto" and (owner := engine_of_voice(voice, chosen, run)):
        run = run.model_copy(update={"engine": owner})
        chosen = create_engine(owner, run)

    def save(candidate: Candidate) -> Saved:
        audio = encode(candidate.audio, audio_format)
        if target is not None:
            replaced = target.exists()
            write_bytes(audio, target)
            return Saved(target, voice, replaced)
        suffix = SUFFIXES[audio_format]
        stem = write_new(
            folder, f"{safe_stem(candidate.voice.name)}-{candidate.seed}", lambda _: {suffix: audio}
        )
        return Saved(folder / f"{stem}{suffix}", voice)

    with Studio(run, chosen) as studio:
        _say_unused(session, studio)
        speaker = studio.find_voice(voice)
        speaker = speaker.model_copy(update={"controls": speaker.controls.changed_by(changes)})
        check_folder(folder)
        events = studio.speak(speaker, spoken, language=language, seed=seed)
        deliver(session, studio, events, save, as_json)


def understand(
    ctx: typer.Context,
    description: Annotated[
        str, typer.Option("--description", "-d", metavar="WORDS", help="The voice in words, 中文 or English.")
    ],
    settings: opt.Set = None,
    as_json: opt.Json = False,
) -> None:
    """Show what is read out of a description."""
    from voice_sculptor.controls import parse_controls
    from voice_sculptor.documents import notices_json, understood_json
    from voice_sculptor.language.conflicts import merge
    from voice_sculptor.language.description import understand as read

    session: Session = ctx.obj
    spec = _spec(description, parse_controls(settings or []))
    understood = read(spec.description)
    merged = merge(spec, understood)
    if as_json:
        warnings = notices_json(merged.notices, session.language)
        print_json({**understood_json(understood, merged), "warnings": warnings})
        return
    for line in _in_words(session, merged, understood):
        typer.echo(line)
    for notice in merged.notices:
        session.say(notice.message(session.language))


def _say_unused(session: Session, studio: Studio) -> None:
    from voice_sculptor.engines.registry import unused_settings

    if notice := unused_settings(studio.settings, studio.engine.info):
        session.say(notice.message(session.language))


def _spec(description: str, controls: Controls) -> VoiceSpec:
    from voice_sculptor.domain import MAX_DESCRIPTION_CHARS, VoiceSpec

    if len(description) > MAX_DESCRIPTION_CHARS:
        raise InvalidRequest(
            f"The description has {len(description):,} characters, over the limit of {MAX_DESCRIPTION_CHARS:,}.",
            f"描述有 {len(description):,} 个字符，最多 {MAX_DESCRIPTION_CHARS:,} 个。",
            fix_en="Shorten it; the text to speak goes to --text.",
            fix_zh="请缩短描述；要朗读的文本请用 --text。",
        )
    return VoiceSpec(description=description, controls=controls)


def _target(out: Path | None, audio_format: AudioFormat | None) -> tuple[Path | None, AudioFormat]:
    """The file to write, or `None` for a name of our own in a folder; and its format."""
    from voice_sculptor.audio.io import format_of
    from voice_sculptor.cli.output import is_folder

    if out is None or not out.suffix or is_folder(out):
        return None, audio_format or "wav"
    named = format_of(out)
    if audio_format not in (None, named):
        raise InvalidRequest(
            f"--format {audio_format} does not fit the file name {out.name}.",
            f"--format {audio_format} 与文件名 {out.name} 不一致。",
            fix_en="Leave --format out, or change the name.",
            fix_zh="请去掉 --format，或修改文件名。",
        )
    return out, named


def _in_words(session: Session, merged: Merged, understood: Understood) -> Iterator[str]:
    from voice_sculptor.language.describe import shown

    asked = merged.controls.asked() | merged.timbre.asked()
    read = understood.controls.asked() | understood.timbre.asked()
    for name, value in asked.items():
        words = ", ".join(understood.words[name]) if read.get(name) == value else ""
        yield f"{name}: {shown(name, value, session.language)}" + (f"  ({words})" if words else "")
    if not asked:
        yield session.pick("Nothing is asked of the voice.", "没有读到对声音的要求。")
