"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from voice_sculptor.errors import OutputError


def write_bytes(data: bytes, path: Path) -> None:
    """Put a file in place in one step: its name holds the old content or all of the new, at every moment.

    Args:
        data: The whole content.
        path: An existing file is replaced; parent folders are made.

    Raises:
        OutputError: Not writable, no space left, or `path` is a folder.
    """
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _output_error(error, path) from error


_WHY: dict[int, tuple[str, str, str, str]] = {
    errno.EISDIR: ("is a folder", "是一个文件夹", "Add a file name.", "请加上文件名。"),
    # mkdir says EEXIST where the parent itself is a file.
    **dict.fromkeys(
        (errno.ENOTDIR, errno.EEXIST), ("lies below a file, not a folder", "的上级是文件而不是文件夹", "", "")
    ),
    errno.ENAMETOOLONG: ("has too long a name", "名称过长", "Shorten the name.", "请缩短文件名。"),
    **dict.fromkeys(
        (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG),
        (
            "does not fit: the disk is full or a size limit is reached",
            "写不下：磁盘已满或达到大小限制",
            "Free some space or choose another folder.",
            "请清理空间或换一个文件夹。",
        ),
    ),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS),
        (
            "may not be written by this user",
            "没有写入权限",
            "Choose another folder, or change its permissions.",
            "请换一个文件夹，或修改权限。",
        ),
    ),
}


def _output_error(error: OSError, path: Path) -> OutputError:
    reason = error.strerror or str(error)
    unknown = (f"cannot be written ({reason})", f"无法写入（{reason}）", "", "")
    why_en, why_zh, fix_en, fix_zh = _WHY.get(error.errno or 0, unknown)
    return OutputError(
        f"{path} {why_en}.",
        f"{path} {why_zh}。",
        fix_en=fix_en or "Choose another place.",
        fix_zh=fix_zh or "请换一个位置。",
    )
