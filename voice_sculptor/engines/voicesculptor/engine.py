"""The Voice Sculptor engine behind the protocol."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from voice_sculptor.config import ENGINE_SETTINGS, Settings
from voice_sculptor.controls import CONTROL_NAMES
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import (
    AudioChunk,
    CandidateDone,
    CandidateFailed,
    Capabilities,
    EngineEvent,
    EngineInfo,
    Finding,
    Options,
    StockVoice,
)
from voice_sculptor.engines.voicesculptor import weights
from voice_sculptor.errors import (
    ConfigError,
    InvalidRequest,
    MissingDependency,
    RunawayOutput,
    SynthesisFailed,
    UnknownVoice,
    VoiceSculptorError,
)
from voice_sculptor.timbre import TIMBRE_NAMES

if TYPE_CHECKING:
    import torch

    from voice_sculptor.engines.voicesculptor.codec import Codec
    from voice_sculptor.engines.voicesculptor.decoding import Decoder, Prefilled, Row
    from voice_sculptor.engines.voicesculptor.prompt import PromptBuilder
    from voice_sculptor.engines.voicesculptor.runaway import Fault
    from voice_sculptor.engines.voicesculptor.sampling import Sampling
    from voice_sculptor.engines.voicesculptor.takes import Take

_LOADED_BYTES = 10_000_000_000
_WEIGHTS_BYTES = 7_200_000_000
"""Computed: 3.41 billion parameters of the language model and 187 million of the codec's decoder, 2 bytes each."""
_BYTES_PER_TOKEN = 2 * 28 * 8 * 128 * 2
"""Computed: keys and values of 28 layers, 8 heads of 128, 2 bytes each, of a prompt; slots have their own."""
_BYTES_PER_AUDIO_S = 8_000_000
"""Computed: what the codec's decoder holds of a clip at a time, 50 frames a second, not more than 160 kB each."""
_NUM_SLOTS = 4
_MAX_NEW_TOKENS = 2048
_PROMPT_TOKENS = 1024
"""For description, tags and text; the speech that is gone on from comes on top."""


class VoiceSculptorOptions(Options):
    """Options of one request; `None` takes the setting of the same name, and that the model's own.

    Attributes:
        temperature: 0.9 unless set.
        top_p: 0.95 unless set.
        top_k: 15 unless set; 0 keeps all.
        repetition_penalty: 1.05 unless set.
        max_new_tokens: Most speech tokens of a piece, 50 a second.
    """

    temperature: Annotated[float, Field(gt=0.0, le=2.0)] | None = None
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    top_k: Annotated[int, Field(ge=0, le=1000)] | None = None
    repetition_penalty: Annotated[float, Field(ge=1.0, le=2.0)] | None = None
    max_new_tokens: Annotated[int, Field(ge=64, le=4096)] | None = None


class VoiceSculptorEngine:
    """LLaSA 3B and XCodec2: designs a voice from a Chinese description and control tags.

    Args:
        settings: Where the weights are, how many slots, how to sample.
    """

    info = EngineInfo(
        id="voicesculptor",
        title="Voice Sculptor (LLaSA 3B + XCodec2)",
        sample_rate=16_000,
        codec_frame_rate=50.0,
        languages=("zh",),
        code_licence="Apache-2.0",
        weights_licence=f"{weights.MODEL.licence} AND {weights.CODEC.licence}",
        capabilities=Capabilities(
            design=True,
            streaming=True,
            batching=True,
            seed=True,
            voice_state=True,
            controls=frozenset(CONTROL_NAMES),
            timbre=frozenset(TIMBRE_NAMES),
        ),
        max_batch_size=8,
        memory_estimate_bytes=_LOADED_BYTES,
        weights_bytes=_WEIGHTS_BYTES,
        bytes_per_token=_BYTES_PER_TOKEN,
        bytes_per_audio_s=_BYTES_PER_AUDIO_S,
        max_piece_s=_MAX_NEW_TOKENS / 50.0,
        settings=frozenset(ENGINE_SETTINGS),
    )
    Options = VoiceSculptorOptions

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._codec: Codec | None = None
        self._decoder: Decoder | None = None
        self._prompts: PromptBuilder | None = None
        self._held: Mapping[str, int] = {}

    def load(self, device: str, dtype: str | None, progress: Callable[[float], None]) -> None:
        """See `Engine.load`: the codec first, which is small and shows early what is wrong."""
        self._need_transformers()
        found = weights.ensure(self._settings, lambda fraction: progress(0.5 * fraction))
        from voice_sculptor.engines.held import held_bytes
        from voice_sculptor.engines.voicesculptor.checkpoint import load_language_model
        from voice_sculptor.engines.voicesculptor.codec import Codec
        from voice_sculptor.engines.voicesculptor.decoding import Decoder
        from voice_sculptor.engines.voicesculptor.prompt import PromptBuilder
        from voice_sculptor.engines.voicesculptor.vocabulary import Vocabulary

        if found.model_dir is None or found.codec_dir is None:
            raise RuntimeError("weights.ensure() returned without weights")
        language_type, codec_type = _types(device, dtype)
        codec = Codec.load(
            found.codec_dir, device, codec_type, lambda fraction: progress(0.5 + 0.1 * fraction)
        )
        model, tokenizer = load_language_model(found.model_dir, device, language_type)
        progress(0.95)
        vocabulary = Vocabulary.of(tokenizer.backend_tokenizer)
        prompts = PromptBuilder(tokenizer, vocabulary)
        longest = self._settings.max_new_tokens or _MAX_NEW_TOKENS
        num_slots = self._settings.slots or _NUM_SLOTS
        decoder = Decoder(
            model,
            vocabulary,
            num_slots,
            _PROMPT_TOKENS + longest,
            longest,
            use_graph=self._settings.cuda_graph is not False,
        )
        self._codec, self._decoder, self._prompts = codec, decoder, prompts
        self._held = {
            "weights": held_bytes(model),
            "codec": codec.num_bytes,
            "cache": decoder.cache.num_bytes + held_bytes(decoder.sampler),
        }
        progress(1.0)

    def memory_parts(self) -> Mapping[str, int]:
        """See `StatesMemory.memory_parts`."""
        return self._held

    def warm_up(self) -> Iterator[None]:
        """See `Engine.warm_up`: a few tokens and their sound; on a graphics card the step becomes one graph."""
        from voice_sculptor.engines.voicesculptor.decoding import Row

        codec, decoder, prompts = self._parts()
        row = Row((0,), self._sampling(None)[0], 8)
        decoder.admit(row, decoder.prefill(prompts.build("", (), "你好。")))
        try:
            while row in decoder.rows:
                decoder.step()
                yield
        finally:
            decoder.clear()
        codec.decode([row.tokens or [0]])
        yield

    def unload(self) -> None:
        """See `Engine.unload`."""
        was_on_card = self._decoder is not None and self._decoder.is_on_card
        self._codec = self._decoder = self._prompts = None
        self._held = {}
        gc.collect()
        if was_on_card:
            import torch

            torch.cuda.empty_cache()

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        """See `Engine.synthesize`: the candidates of all requests side by side, as many as there are slots."""
        from voice_sculptor.engines.voicesculptor.takes import Take

        waiting: deque[Take] = deque()
        for request in batch:
            try:
                waiting += Take.all_of(request)
            except InvalidRequest as error:
                for index in range(len(request.seeds)):
                    yield CandidateFailed(request.id, index, error)
        try:
            yield from self._speak(waiting, is_cancelled)
        finally:
            self._parts()[1].clear()

    def weights_ready(self) -> bool:
        """See `Engine.weights_ready`."""
        return weights.is_ready(self._settings)

    def examine(self, device: str, dtype: str | None) -> Iterator[Finding]:
        """See `Engine.examine`."""
        self._need_transformers()
        from voice_sculptor.engines.voicesculptor.examination import examine

        language_type, codec_type = _types(device, dtype)
        yield from examine(self._settings, language_type, codec_type)

    def stock_voices(self) -> tuple[StockVoice, ...]:
        """See `Engine.stock_voices`: this model has none."""
        return ()

    def stock_state(self, name: str) -> Mapping[str, Any]:
        """See `Engine.stock_state`."""
        raise UnknownVoice(f"There is no voice {name!r}.", f"没有名为 {name!r} 的声音。")

    def _need_transformers(self) -> None:
        if find_spec("transformers") is None:
            raise MissingDependency(
                f"{self.info.title} needs the package transformers, which needs Python 3.11 or newer.",
                f"{self.info.title} 需要 transformers，而它需要 Python 3.11 或更高版本。",
                fix_en="Run `bash run.sh setup` with a newer Python, or use --engine kokoro.",
                fix_zh="请用更新的 Python 运行 `bash run.sh setup`，或使用 --engine kokoro。",
            )

    def _parts(self) -> tuple[Codec, Decoder, PromptBuilder]:
        if self._codec is None or self._decoder is None or self._prompts is None:
            raise RuntimeError("load() comes first")
        return self._codec, self._decoder, self._prompts

    def _sampling(self, request: SynthesisRequest | None) -> tuple[Sampling, int]:
        from voice_sculptor.engines.voicesculptor.sampling import Sampling

        options = request.options if request else None
        given = self._settings.model_dump(include=set(VoiceSculptorOptions.model_fields), exclude_none=True)
        if isinstance(options, VoiceSculptorOptions):
            given |= options.model_dump(exclude_none=True)
        max_new_tokens = given.pop("max_new_tokens", _MAX_NEW_TOKENS)
        return Sampling(**given), max_new_tokens

    def _speak(self, waiting: deque[Take], is_cancelled: Callable[[str], bool]) -> Iterator[EngineEvent]:
        from voice_sculptor.engines.voicesculptor.runaway import fault_of_tokens

        _, decoder, prompts = self._parts()
        running: dict[Row, Take] = {}
        read: tuple[tuple[int, ...], Prefilled] | None = None
        while waiting or running:
            for row in [row for row, take in running.items() if is_cancelled(take.request.id)]:
                decoder.drop(row)
                del running[row]
            while waiting and decoder.num_free:
                take = waiting.popleft()
                if is_cancelled(take.request.id):
                    continue
                if take.recalls and take.anchor is not None:
                    yield from self._ended(take, list(take.anchor.tokens), None, waiting, is_cancelled)
                    continue
                prompt = take.prompt(prompts)
                if len(prompt) > decoder.max_prompt_tokens:
                    yield CandidateFailed(take.request.id, take.index, _too_long())
                    continue
                if read is None or read[0] != prompt:
                    read = (prompt, decoder.prefill(prompt))
                row = take.row(self._sampling)
                decoder.admit(row, read[1])
                running[row] = take
            if not waiting:
                read = None
            if not running:
                continue
            for row in decoder.step():
                take = running.pop(row)
                if is_cancelled(take.request.id):
                    continue
                fault = fault_of_tokens(row.tokens, take.pieces[0], row.has_ended)
                yield from self._ended(take, row.tokens, fault, waiting, is_cancelled)

    def _ended(
        self,
        take: Take,
        tokens: list[int],
        fault: Fault | None,
        waiting: deque[Take],
        is_cancelled: Callable[[str], bool],
    ) -> Iterator[EngineEvent]:
        """A piece has come to its end: what is heard of it, and the end where it was the last, or a second try."""
        from voice_sculptor.engines.voicesculptor.runaway import fault_of_audio
        from voice_sculptor.engines.voicesculptor.takes import NUM_ATTEMPTS

        request_id, index = take.request.id, take.index
        if fault is None:
            try:
                samples = self._parts()[0].decode([tokens])[0]
            except SynthesisFailed as error:
                yield CandidateFailed(request_id, index, error)
                return
            fault = fault_of_audio(samples)
        if fault is not None:
            take.attempt += 1
            if take.recalls or take.attempt == NUM_ATTEMPTS:
                yield CandidateFailed(request_id, index, RunawayOutput(*fault))
                return
        else:
            take.say(tokens)
            yield AudioChunk(request_id, index, samples, take.fraction)
        if take.pieces:
            # First in line: a candidate that has begun is finished before another begins.
            waiting.appendleft(take)
        elif take.anchor is not None and not is_cancelled(request_id):
            yield CandidateDone(request_id, index, take.anchor.model_dump(mode="json"))


def _types(device: str, dtype: str | None) -> tuple[torch.dtype, torch.dtype]:
    """Types of the language model and the codec on a device."""
    import torch

    named = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    if not device.startswith("cuda"):
        if dtype == "fp16":
            raise ConfigError(
                "Half precision (fp16) needs a graphics card.",
                "半精度（fp16）需要显卡。",
                fix_en="Leave --half and --dtype out, or choose --device cuda:0.",
                fix_zh="请去掉 --half 和 --dtype，或选择 --device cuda:0。",
            )
        # The codec's convolutions take thirty times as long in bf16 on a CPU.
        return named[dtype or "fp32"], torch.float32
    best = torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16
    language_type = named[dtype] if dtype else best
    # The codec in bf16 loses 18 dB against fp16, with random weights; in 16 bit it is fp16 whatever the model is.
    return language_type, torch.float32 if language_type == torch.float32 else torch.float16


def _too_long() -> VoiceSculptorError:
    return InvalidRequest(
        "Description and text are too long for one pass of this model.",
        "描述和文本超出了该模型一次能读的长度。",
        fix_en="Shorten the description, or cut the text into shorter sentences.",
        fix_zh="请缩短描述，或把文本分成更短的句子。",
    )
