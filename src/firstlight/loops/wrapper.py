"""Wrapper: what `fl-cc` does where a file has pragmas: tuned loops in the place of golden ones, all else unchanged.

The compiler reads a copy of the file in which each marked loop is a call, with `#line` so that messages name the file
itself. What it writes gets its name when it is whole. Whatever goes wrong here, the golden file is compiled.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from firstlight.loops import NotUnderstoodError, emit
from firstlight.loops.source import Source, has_pragmas, read
from firstlight.loops.trial import compiler

ELSEWHERE = ("-E", "-M", "-MM", "-S", "-fsyntax-only", "-gsplit-dwarf", "-save-temps", "-x")
"""With one of these nothing is replaced: the file itself is asked for, or what lies where the compiler alone knows."""

SYSTEM = "system"
"""Tuned code is included from here as a header of the system: warnings that a build asks for are of its own code."""
QUIETED = {"gcc": "-Wno-aggressive-loop-optimizations", "clang": "-Wno-pass-failed"}
"""What is warned of unasked where tuned code was inlined, and told as a defect of the function around it."""


class Inserted(NamedTuple):
    """What stands in the place of bytes `begin` to `end`."""

    begin: int
    end: int
    code: str


def main(words: Sequence[str]) -> int:
    real, given = words[0], list(words[1:])
    if any(word in ELSEWHERE or word.startswith(("-save-temps=", "-x")) for word in given):
        return _became(real, given)
    folder = tempfile.mkdtemp(prefix="fl-cc-")
    try:
        try:
            changed = _rewritten(real, given, Path(folder))
        except Exception as error:  # golden is compiled whatever happens here
            _note(f"{type(error).__name__}: {error}; loops are compiled as they are")
            changed = given
        return _compiled(real, given, changed, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _note(line: str) -> None:
    print(f"fl-cc: {line}", file=sys.stderr, flush=True)


def _became(real: str, words: list[str]) -> int:
    os.execvp(real, [real, *words])


def _rewritten(real: str, given: list[str], folder: Path) -> list[str]:
    """The words of the command, with copies of the files that have pragmas."""
    found = list(given)
    more: list[str] = []
    for k, word in enumerate(given):
        path = Path(word)
        if (
            word.startswith("-")
            or path.suffix != ".c"
            or (k and given[k - 1] in ("-o", "-MF", "-include", "-MT", "-MQ"))
        ):
            continue
        code = path.read_bytes()
        if not has_pragmas(code):
            continue
        source = read(path, code)
        for refused in source.refused:
            _note(f"{word}:{refused.line}: {refused.why}; compiled as it is")
        copy = folder / str(k) / path.name
        copy.parent.mkdir()
        tuned = _tuned(source, real, given)
        copy.write_bytes(_with_tuned(source, tuned, word, copy.parent / SYSTEM))
        found[k] = str(copy)
        parent = str(path.parent)
        more += [f"-iquote{parent}", "-isystem", str(copy.parent / SYSTEM), f"-ffile-prefix-map={copy.parent}={parent}"]
        more += {QUIETED[one.header.compiler.partition(" ")[0]] for one in tuned.values()}
    return [*more, *found]


def _tuned(source: Source, real: str, given: list[str]) -> dict[str, emit.Tuned]:
    """By loop: the tuned files that are of these very loops and of this compiler with these flags."""
    files = emit.every(source.path)
    if not files:
        return {}
    family = compiler(real, ()).family
    key = emit.build_key(real, given)
    found = {}
    for loop in source.loops:
        path = emit.place(source.path, loop.name, family)
        where = f"{source.path}:{loop.line}"
        if path not in files:
            continue
        try:
            tuned = emit.read(path)
        except (OSError, NotUnderstoodError) as error:
            _note(f"{path}: {error}; {where} is compiled as it is")
            continue
        again = f"it is compiled as it is; retune: ./fl tune loop {source.path}"
        if tuned.header.loop != loop.hash:
            _note(f"{where}: the loop was changed since it was tuned; {again}")
        elif tuned.header.build != key:
            flags = " ".join(emit.code_flags(given))
            other = f"tuned for {tuned.header.compiler}, and this is another compiler or {flags}"
            _note(f"{where}: {other}; {again} --flags '{flags}'")
        else:
            found[loop.name] = tuned
    return found


def _with_tuned(source: Source, tuned: dict[str, emit.Tuned], shown: str, headers: Path) -> bytes:
    """The file with calls for loops, the tuned functions before the functions that call them, no pragma left."""
    pieces: list[Inserted] = []
    for loop in source.loops:
        if loop.name in tuned:
            handed = ", ".join(p.handed for p in loop.params)
            pieces.append(Inserted(loop.begin, loop.end, f"{tuned[loop.name].header.function}({handed});"))
    functions = {loop.function.start_byte: loop.function for loop in source.loops if loop.name in tuned}
    for begin, function in functions.items():
        mine = [tuned[loop.name] for loop in source.loops if loop.name in tuned and loop.function.start_byte == begin]
        row, column = function.start_point
        names = []
        for one in mine:
            names.append(f"{one.header.function}.h")
            headers.mkdir(exist_ok=True)
            (headers / names[-1]).write_text(one.code, encoding="utf-8", errors="surrogateescape")
        code = "".join(f"\n#include <{name}>" for name in names)
        pieces.append(Inserted(begin, begin, f'{code}\n#line {row + 1} "{_quoted(shown)}"\n{" " * column}'))
    data, parts, at = source.code, [f'#line 1 "{_quoted(shown)}"\n'.encode()], 0
    for piece in sorted(pieces):
        parts += [_bare(data[at : piece.begin]), piece.code.encode("utf-8", "surrogateescape")]
        parts.append(b"\n" * data[piece.begin : piece.end].count(b"\n"))
        at = piece.end
    return b"".join([*parts, _bare(data[at:])])


def _bare(code: bytes) -> bytes:
    """Without pragmas of ours: the compiler would warn of them where it is asked to."""
    lines, dropping = code.split(b"\n"), False
    for k, line in enumerate(lines):
        words = line.replace(b"#", b" # ", 1).split()
        if dropping or words[:3] == [b"#", b"pragma", b"tune"]:
            dropping, lines[k] = line.endswith(b"\\"), b""
    return b"\n".join(lines)


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')


def _compiled(real: str, given: list[str], changed: list[str], folder: str) -> int:
    """Run the compiler; what it compiles to gets its name when it is whole."""
    words, output, part = list(changed), _output(given), ""
    if output:
        part = f"{output}.fl-cc.{os.getpid()}"
        words = _to(words, output, part, _dependencies(given, output))
    try:
        child = subprocess.Popen([real, *words], preexec_fn=_end_with_parent)
    except OSError as error:
        _note(f"{real}: {error.strerror}")
        return 127
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: child.send_signal(n))
    status = child.wait()
    dependencies = _dependencies(given, output)
    if dependencies and Path(dependencies).exists():
        _named(Path(dependencies), given, changed, folder)
    if part and Path(part).exists():
        if status == 0:
            Path(part).replace(output)
        else:
            Path(part).unlink()
    return status if status >= 0 else 128 - status


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _after(words: list[str], option: str) -> str:
    """The value of an option, joined to it or the next word; "" where it is not there."""
    for k, word in enumerate(words):
        if word == option:
            return words[k + 1] if k + 1 < len(words) else ""
        if word.startswith(option) and option in ("-o", "-MF"):
            return word[len(option) :]
    return ""


def _output(given: list[str]) -> str:
    """The object that is written, where it is one."""
    sources = [w for w in given if w.endswith(".c") and not w.startswith("-")]
    if "-c" not in given or len(sources) != 1:
        return ""
    return _after(given, "-o") or f"{Path(sources[0]).stem}.o"


def _dependencies(given: list[str], output: str) -> str:
    """The list of what is depended on; "" where none is asked for, or nobody but the compiler knows where it lies."""
    if not {"-MD", "-MMD"} & set(given):
        return ""
    return _after(given, "-MF") or (str(Path(output).with_suffix(".d")) if output else "")


def _to(words: list[str], output: str, part: str, dependencies: str) -> list[str]:
    """The words with another output; what is derived from its name is said by itself."""
    found, skip = [], False
    for word in words:
        if skip or word == "-o":
            skip = not skip
            continue
        if word.startswith("-o") and word[2:] == output:
            continue
        found.append(word)
    if dependencies and not _after(words, "-MF"):
        found += ["-MF", dependencies]
    if dependencies and not {"-MT", "-MQ"} & set(words):
        found += ["-MQ", output]
    return [*found, "-o", part]


def _named(path: Path, given: list[str], changed: list[str], folder: str) -> None:
    """The list of what the object depends on names the file, not its copy."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
        more = len(changed) - len(given)
        for old, new in zip(given, changed[more:], strict=True):
            if new != old and new.startswith(folder):
                text = re.sub(rf"{re.escape(str(Path(new).parent / SYSTEM))}/\S+:?", "", text.replace(new, old))
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        _note(f"{path}: {error.strerror}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
