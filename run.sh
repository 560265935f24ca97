#!/usr/bin/env bash
# Sets up Voice Sculptor beside itself and starts it. `bash run.sh help` tells how.
# Works with bash 3.2 (macOS), from any folder, through symlinks, and started twice at once.
set -uo pipefail

MIN_DISK_MB=3000 # what the packages take without a graphics card; about 8,000 with CUDA

usage() {
  cat <<'EOF'
Voice Sculptor · 声音工坊

  bash run.sh [--port N] [--host H]   set up if need be, start the page · 首次自动安装，启动页面
  bash run.sh setup                   only set up · 只安装
  bash run.sh --clean                 end pages of this folder that still run · 结束本文件夹遗留的服务进程
  bash run.sh test [PYTEST ARGS]      set up, then lint, types and tests; -m slow for the long ones · 检查与测试
  bash run.sh COMMAND ...             the command line, e.g. design, speak, presets · 命令行
  bash run.sh COMMAND --help          its options · 查看选项

Variables · 环境变量
  PORT                         port of the page · 页面端口
  PYTHON                       the Python to use (3.10-3.13) · 指定 Python
  PIP_INDEX_URL                another package index · 软件包镜像
  VOICE_SCULPTOR_CHECKPOINTS   folder of the model weights · 模型权重目录
EOF
}

say() { printf '%s\n' "$@" >&2; } # what it says of itself leaves stdout to the command
fail() { # a sentence in English, the same in Chinese, …
  say "" "$@"
  exit 1
}

# The folder this script really lies in; `readlink -f` is not everywhere.
here() {
  local path=$1 target
  while [ -L "$path" ]; do
    target=$(readlink "$path")
    case $target in
      /*) path=$target ;;
      *) path=$(dirname "$path")/$target ;;
    esac
  done
  (cd -P "$(dirname "$path")" && pwd)
}

ROOT=$(here "${BASH_SOURCE[0]}") || exit 1
VENV=$ROOT/.venv
UNFINISHED=$ROOT/.venv.unfinished # beside it: making .venv anew empties the folder
LOG=$VENV/install.log

# Packages of the caller's shell must not pass for the environment's own.
unset PYTHONPATH PYTHONHOME
export PYTHONNOUSERSITE=1 PIP_USER=0

# --- Python ------------------------------------------------------------------------------------------------------

is_supported() {
  "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

find_python() {
  local name seen="" lacking=""
  for name in "${PYTHON:-}" python3.13 python3.12 python3.11 python3.10 python3 python; do
    if [ -z "$name" ] || ! command -v "$name" >/dev/null 2>&1; then continue; fi
    if ! is_supported "$name"; then
      seen=$(printf '%s\n' "$seen" && "$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
    elif ! "$name" -c 'import venv, ensurepip' >/dev/null 2>&1; then
      lacking=$("$name" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    else
      command -v "$name"
      return
    fi
  done
  if [ -n "$lacking" ]; then
    fail "$lacking is here, but its venv module is not." "找到了 ${lacking}，但缺少 venv 模块。" \
      "Install it, e.g.: sudo apt-get install $lacking-venv" "请安装，例如：sudo apt-get install $lacking-venv"
  fi
  seen=$(printf '%s\n' "$seen" | grep . | sort -u | paste -s -d ' ' -)
  fail "No Python 3.10 to 3.13 was found${seen:+ (found: $seen)}." \
    "没有找到 Python 3.10–3.13${seen:+（找到：${seen}）}。" \
    "Install one (python.org, apt, brew), or name it: PYTHON=/path/to/python3.12 bash run.sh" \
    "请安装，或指定路径：PYTHON=/path/to/python3.12 bash run.sh"
}

venv_python() { # the environment's own Python, if it has one that runs and is supported
  local path
  for path in "$VENV/bin/python" "$VENV/Scripts/python.exe"; do
    if [ -x "$path" ] && is_supported "$path"; then
      printf '%s\n' "$path"
      return
    fi
  done
  return 1
}

# --- Installing --------------------------------------------------------------------------------------------------

wanted() { # what a complete installation of these requirement files is recognised by
  local name
  "$1" -c 'import platform; print(platform.python_version(), platform.machine())'
  shift
  for name in "$@"; do cksum <"$ROOT/$name"; done
}

is_installed() { # PYTHON STAMP FILES…: nothing to do
  local python=$1 stamp=$2
  shift 2
  [ ! -e "$UNFINISHED" ] && [ -f "$stamp" ] && [ "$(wanted "$python" "$@")" = "$(cat "$stamp")" ]
}

# One at a time; the lock lies outside .venv, which may be made anew while it is held.
lock() {
  : 2>/dev/null >>"$ROOT/.venv.lock" ||
    fail "Cannot write into $ROOT." "无法写入 ${ROOT}。" "Make the folder writable, or copy it to one that is." \
      "请让该文件夹可写，或复制到可写的位置。"
  trap 'say "" "Interrupted; start again to go on. · 已中断，重新运行即可继续。"; exit 130' INT TERM
  local waiting="Another start is setting up; waiting for it. · 另一个进程正在安装，等待中。" owner
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$ROOT/.venv.lock"
    flock -n 9 || { say "$waiting"; flock 9; }
    return
  fi
  while ! mkdir "$ROOT/.venv.lock.d" 2>/dev/null; do
    [ -n "$waiting" ] && say "$waiting"
    waiting=""
    sleep 1
    owner=$(cat "$ROOT/.venv.lock.d/pid" 2>/dev/null)
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then rm -rf "$ROOT/.venv.lock.d"; fi
  done
  echo $$ >"$ROOT/.venv.lock.d/pid"
  trap 'rm -rf "$ROOT/.venv.lock.d"' EXIT
}

unlock() {
  trap - INT TERM EXIT
  if command -v flock >/dev/null 2>&1; then exec 9>&-; else rm -rf "$ROOT/.venv.lock.d"; fi
}

set_up() { # STAMP FILES…
  local stamp=$1 name python free_mb
  shift
  python=$(venv_python) && is_installed "$python" "$stamp" "$@" && return # the start we waited for did it
  free_mb=$(df -Pk "$ROOT" | awk 'NR == 2 { print int($4 / 1024) }')
  if [ -n "$free_mb" ] && [ ! -f "$stamp" ] && [ "$free_mb" -lt "$MIN_DISK_MB" ]; then
    fail "Only $free_mb MB of disk is free in $ROOT; the packages need $MIN_DISK_MB MB." \
      "$ROOT 所在磁盘只剩 $free_mb MB，安装需要 $MIN_DISK_MB MB。"
  fi
  # A killed pip may leave packages that look complete, so an unfinished environment is made anew.
  if [ -z "$python" ] || [ -e "$UNFINISHED" ]; then
    python=$(find_python) || exit 1
    : >"$UNFINISHED"
    say "Making the environment in $VENV with $python · 创建虚拟环境"
    "$python" -m venv --clear "$VENV" || fail "The environment could not be made; see above." "无法创建虚拟环境，见上文。"
    python=$(venv_python) || fail "The new environment's Python does not run." "新建环境中的 Python 无法运行。"
  fi
  : >"$UNFINISHED"
  rm -f "$LOG"
  say "Installing packages; minutes the first time · 安装软件包，首次需要几分钟"
  local files=()
  for name in "$@"; do files+=(-r "$ROOT/$name"); done
  "$python" -m pip install --disable-pip-version-check --log "$LOG" "${files[@]}" >&2 || install_failed
  wanted "$python" "$@" >"$stamp" || exit 1
  # Whatever else was asked for, what the product runs on is there now, too.
  wanted "$python" requirements.txt >"$VENV/.installed" || exit 1
  rm -f "$UNFINISHED"
}

install_failed() {
  say "" "pip's last lines · pip 的最后几行:"
  grep -E 'ERROR|error:' "$LOG" 2>/dev/null | tail -n 8 | cut -c 1-300 >&2
  say "(all of them · 完整日志: $LOG)"
  if grep -qE 'No space left|Errno 28|Disk quota' "$LOG" 2>/dev/null; then
    fail "The installation failed: the disk is full. The packages take about 3 GB, with CUDA 8 GB." \
      "安装失败：磁盘已满。安装约需 3 GB，含 CUDA 约需 8 GB。"
  elif grep -qE 'Connection|Temporary failure|Name or service|timed out|ProxyError|SSLError|CERTIFICATE' "$LOG" 2>/dev/null; then
    fail "The installation failed: the package index cannot be reached. Check the network and HTTPS_PROXY, or name" \
      "another index: PIP_INDEX_URL=https://... bash run.sh" \
      "安装失败：无法连接软件包索引。请检查网络和 HTTPS_PROXY，或指定镜像：PIP_INDEX_URL=https://... bash run.sh"
  elif grep -q 'No matching distribution' "$LOG" 2>/dev/null; then
    fail "The installation failed: the index has no version of a package for this Python or system. Try another" \
      "Python (PYTHON=python3.12 bash run.sh) or another index (PIP_INDEX_URL)." \
      "安装失败：索引中没有适合当前 Python 或系统的版本。请换 Python（PYTHON=python3.12 bash run.sh）或换镜像（PIP_INDEX_URL）。"
  fi
  fail "The installation failed. Start again; if it fails the same way, report the lines above." \
    "安装失败。请重试；若仍失败，请附上以上几行报告问题。"
}

ensure() { # STAMP FILES…: the environment has what these files ask for; sets $python
  python=$(venv_python) && is_installed "$python" "$@" && return
  lock
  set_up "$@"
  unlock
  python=$(venv_python) || exit 1
}

# --- Running -----------------------------------------------------------------------------------------------------

has_weights() {
  local file
  for file in "${VOICE_SCULPTOR_CHECKPOINTS:-$ROOT/checkpoints}"/kokoro/kokoro-v1_0*.{safetensors,pth}; do
    [ -f "$file" ] && return
  done
  return 1
}

product() { "$python" "$ROOT/app.py" "$@"; }

check_all() {
  cd "$ROOT" || exit 1
  local bin=${python%/*} status=0 step
  for step in "shellcheck run.sh .ci/run" "ruff check ." "ruff format --check ." "mypy"; do
    say "== $step"
    # shellcheck disable=SC2086
    "$bin"/$step || status=1
  done
  say "== pytest"
  # A file's tests share what they load, and stay together; each process takes a gigabyte or two.
  "$python" -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile "$@" || status=1
  return $status
}

main() {
  local python
  case ${1:-} in
    help | -h | --help)
      usage
      return
      ;;
    --clean)
      shift
      # What is not set up has nothing running, and cleaning up is no time to install.
      if ! python=$(venv_python); then
        say "Nothing is set up here, so nothing runs. · 尚未安装，没有服务在运行。"
        return
      fi
      product clean "$@"
      return
      ;;
    test)
      shift
      ensure "$VENV/.installed-dev" requirements.txt requirements-dev.txt
      check_all "$@"
      return
      ;;
  esac
  ensure "$VENV/.installed" requirements.txt
  export VOICE_SCULPTOR_PROGRAM="bash run.sh" # what messages and help call the program
  # A page behind a proxy still talks to itself.
  local own="localhost,127.0.0.1,::1"
  export NO_PROXY="${NO_PROXY:-${no_proxy:-}}"
  NO_PROXY="${NO_PROXY:+$NO_PROXY,}$own"
  export no_proxy=$NO_PROXY
  if [ "${1:-}" = setup ]; then
    product "$@"
    return
  fi
  has_weights || product setup >&2 || return
  case ${1:-} in
    --version | --ui-lang*) ;;
    "" | serve | -*) (cd "$ROOT" && "$python" -m voice_sculptor.device "${VOICE_SCULPTOR_CHECKPOINTS:-checkpoints}" >&2) || return ;;
  esac
  exec "$python" "$ROOT/app.py" "$@"
}

main "$@"
