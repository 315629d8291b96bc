"""Wrapper: compiles tuned loops instead of golden ones for `fl-cc`, and leaves everything else unchanged.

The compiler reads a copy of the file in which each marked loop is a call, with `#line` so that messages name the file
itself. If nothing is tuned, a word of the command line is not understood, or the copy does not compile, the compiler
runs with the unchanged command line of the build.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from firstlight.commands.loops import NotUnderstoodError, emit
from firstlight.commands.loops.source import Source, has_pragmas, read
from firstlight.commands.loops.trial import compiler
from firstlight.core.shell import as_typed

SYSTEM = "system"
"""The folder from which tuned code is included as a system header: a build's warnings are meant for its own code."""
QUIETED = {"gcc": "-Wno-aggressive-loop-optimizations", "clang": "-Wno-pass-failed"}
"""Options against default warnings that tuned code causes in the function around it."""

_SIMPLE = re.compile(
    r"-(c|w|s|g[0-3]?|ggdb[0-3]?|gdwarf(-[2-5])?|O\w*|W(?![alp],)[\w+=-]*|Wl,.*|pedantic(-errors)?|ansi|std=[\w:+]+"
    r"|m(?!llvm)[\w.=,+-]+|f[\w.=,+:/-]+|[DUILl].+|pipe|pthread|shared|static|rdynamic|(no-)?pie)",
    re.DOTALL,
)
_WITH_VALUE = ("-D", "-U", "-I", "-L", "-l", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")
_MORE_FILES = re.compile(
    r"-f(dump|profile|cs-|test-cov|coverage|branch|auto|stack-usage|callgraph|opt-info|save-opt|syntax|time|mem-|plugin"
    r"|pass-plugin|preprocessed|directives|working|deps|modules|module-|self|compare|record|crash|pch|wpa|ltrans"
    r"|diagnostics-(format|add|set)|no-working|report|xray|instrument|memory-profile|dwo|thinlto|proc-stat|verbose)"
)
"""Options that write further files, named after the source or the output, or that read or write another language."""
_LINKED = re.compile(r"[^-@].*\.(o|lo|a|so(\.\d+)*)", re.DOTALL)
_NOTHING_COMPILED = re.compile(
    r"-(E|S|M|MM|fsyntax-only|v|###|-version|-help|dump(version|machine|specs|fullversion)|print-.*)"
)
_WRITING = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CCC_OVERRIDE_OPTIONS")
"""Variables that make a compiler write or do more than its command line requests."""


class Line(NamedTuple):
    """A command line that is understood: it compiles one C file to an object or to a program."""

    source: str
    words: list[str]  # all except the options for output and dependencies; includes the source
    output: str  # the value of -o; "" without -o
    objects: bool  # true with -c
    listed: list[str]  # the words that create a list of dependencies; empty without a list

    def object(self) -> str:
        return self.output or f"{Path(self.source).stem}.o"


class Inserted(NamedTuple):
    """Code that replaces the bytes from `begin` to `end`."""

    begin: int
    end: int
    code: str


class Prepared(NamedTuple):
    """The words that compile the copy, and the words that only the copy needs."""

    line: Line
    words: list[str]


def main(words: Sequence[str]) -> int:
    real, given = words[0], list(words[1:])
    folder = tempfile.mkdtemp(prefix="fl-cc-")
    try:
        try:
            prepared = _prepared(real, given, Path(folder))
        except Exception as error:  # golden is compiled whatever happens here
            _note(f"{type(error).__name__}: {error}; all loops are compiled unchanged")
            prepared = None
        if prepared is not None:
            if _compiled(real, prepared, Path(folder)):
                return 0
            status = subprocess.call([real, *given], env=_environment(), preexec_fn=_end_with_parent)
            if status == 0:
                _note(f"{prepared.line.source} does not compile with its tuned loops; compiled unchanged")
            return status if status >= 0 else 128 - status
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _become(real, given)


def _note(line: str) -> None:
    print("fl-cc: " + as_typed(line).replace("\n", "\\n"), file=sys.stderr, flush=True)


def _environment() -> dict[bytes, bytes]:
    """Return the environment of the build: Python sets LC_CTYPE in the C locale, which would change messages."""
    pairs = Path("/proc/self/environ").read_bytes().split(b"\0")
    return {name: value for name, _, value in (pair.partition(b"=") for pair in pairs if pair)}


def _become(real: str, given: list[str]) -> int:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, and a program inherits that
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(real, [real, *given], _environment())
    except OSError as error:
        _note(f"{real}: {error.strerror}")
    return 127


def understood(given: list[str]) -> Line | str:
    """Return the parts of the command line, or the first word that is not understood."""
    sources: list[str] = []
    words, listed, outputs = list[str](), list[str](), list[str]()
    rest = iter(given)
    for word in rest:
        if word in ("-o", "-MF", "-MT", "-MQ", *_WITH_VALUE):
            value = next(rest, None)
            if value is None:
                return word
            if word == "-o":
                outputs.append(value)
            else:
                (listed if word.startswith("-M") else words).extend((word, value))
        elif word.startswith("-o"):
            outputs.append(word[2:])
        elif word in ("-MD", "-MMD", "-MP"):
            listed.append(word)
        elif word.startswith("-MF"):
            listed += ["-MF", word[3:]]
        elif word.endswith(".c") and word[0] not in "-@":
            sources.append(word)
            words.append(word)
        elif _LINKED.fullmatch(word) or (_SIMPLE.fullmatch(word) and not _MORE_FILES.match(word)):
            words.append(word)
        else:
            return word
    if len(sources) != 1 or not sources[0].isprintable():
        return " ".join(sources)
    if len(outputs) > 1 or any(output.startswith("-") for output in outputs):
        return "-o"
    objects, making = "-c" in words, {"-MD", "-MMD"} & set(listed)
    lists = [listed[k + 1] for k, word in enumerate(listed) if word == "-MF"]
    if len(making) != bool(listed) or len(lists) > 1 or (listed and not objects) or not all(map(_plain, lists)):
        return listed[0]
    return Line(sources[0], words, "".join(outputs), objects, listed)


def _plain(path: str) -> bool:
    """Return whether this is a plain file or does not exist: no device, link, folder or standard output."""
    try:
        return path not in ("", "-") and stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _prepared(real: str, given: list[str], folder: Path) -> Prepared | None:
    """Return the words that compile a copy with tuned loops. None: nothing is tuned, or the line is unsuitable."""
    marked = [word for word in given if word.endswith(".c") and word[0] not in "-@" and _marked(Path(word))]
    tuned_files = [word for word in marked if emit.every(Path(word))]
    if any(_NOTHING_COMPILED.fullmatch(word) for word in given):
        return None
    line = understood(given)
    if not tuned_files:
        if marked and isinstance(line, Line):
            _read(line, real)
        return None
    if isinstance(line, str) or any(os.environ.get(name) for name in _WRITING):
        why = line if isinstance(line, str) else next(name for name in _WRITING if os.environ.get(name))
        _note(f"{tuned_files[0]}: fl-cc does not use tuned loops with `{why}`; compiled unchanged")
        return None
    source = _read(line, real)
    path = source.path
    tuned = _tuned(source, real, given)
    if not tuned:
        return None
    copy = folder / "copy" / path.name
    copy.parent.mkdir()
    copy.write_bytes(_with_tuned(source, tuned, line.source, copy.parent / SYSTEM))
    shutil.copystat(path, copy)  # __TIMESTAMP__ is the time of the file
    parent = str(path.parent)
    more = [f"-iquote{parent}", "-isystem", str(copy.parent / SYSTEM), f"-ffile-prefix-map={copy}={line.source}"]
    more += sorted({QUIETED[one.header.compiler.partition(" ")[0]] for one in tuned.values()})
    words = [*more, *(str(copy) if word == line.source else word for word in line.words)]
    plain, changed = (_included(real, some, folder) for some in (line.words, words))
    names = [(a, b) for a, b in zip(plain, changed, strict=False) if a != b]
    if len(plain) != len(changed) or any(os.path.realpath(a) != os.path.realpath(b) for a, b in names):
        _note(f"{path}: a copy in another folder would include other headers; compiled unchanged")
        return None
    return Prepared(line, [*(f"-ffile-prefix-map={b}={a}" for a, b in names), *words])


def _read(line: Line, real: str) -> Source:
    """Read the source as this compiler sees it, and report the loops that are compiled as they are."""
    flags = [word for word in line.words if word not in ("-c", line.source) and not _LINKED.fullmatch(word)]
    source = read(Path(line.source), command=[real, *flags])
    for refused in source.refused:
        _note(f"{source.path}:{refused.line}: {refused.why}; compiled unchanged")
    return source


def _marked(path: Path) -> bool:
    try:
        return has_pragmas(path.read_bytes())
    except OSError:
        return False  # the compiler reports the error


def _included(real: str, words: list[str], folder: Path) -> list[str]:
    """Return the files that are read in addition to the source and tuned code. Raises NotUnderstoodError."""
    listed = folder / "listed"
    asked = [real, *(word for word in words if word != "-c"), "-M", "-MT", "x", "-MF", str(listed)]
    done = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise NotUnderstoodError("the compiler does not list the dependencies of this file")
    text = listed.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    names = re.split(r"(?<!\\)\s+", text.strip())[2:]
    return [name for name in names if f"/{SYSTEM}/fl_" not in name]


def _tuned(source: Source, real: str, given: list[str]) -> dict[str, emit.Tuned]:
    """Return the tuned files, by loop, that match the loops, this compiler and these flags."""
    files = emit.every(source.path)
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
            _note(f"{path}: {error}; {where} is compiled unchanged")
            continue
        again = f"the loop is compiled unchanged; retune: ./fl tune loop {source.path}"
        if tuned.header.loop != loop.hash:
            _note(f"{where}: the loop has changed since its tuning; {again}")
        elif tuned.header.build == key and tuned.header.view != loop.view:
            _note(f"{where}: a macro, a type or a pragma in the loop has changed since its tuning; {again}")
        elif tuned.header.build != key:
            flags = shlex.join(emit.code_flags(given))
            other = f"tuned for {tuned.header.compiler}, but this build uses another compiler or {flags}"
            _note(f"{where}: {other}; {again} --flags {shlex.quote(flags)}")
        else:
            found[loop.name] = tuned
    return found


def _with_tuned(source: Source, tuned: dict[str, emit.Tuned], shown: str, headers: Path) -> bytes:
    """Return the file with calls instead of loops, tuned functions before their callers, and no tune pragma."""
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
    """Return the code without tune pragmas: the compiler would warn about them if a build enables that."""
    lines, dropping = code.split(b"\n"), False
    for k, line in enumerate(lines):
        words = line.replace(b"#", b" # ", 1).split()
        if dropping or words[:3] == [b"#", b"pragma", b"tune"]:
            dropping, lines[k] = line.endswith(b"\\"), b""
    return b"\n".join(lines)


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')


def _compiled(real: str, prepared: Prepared, folder: Path) -> bool:
    """Compile the copy; the object appears under its name only when complete. False: the copy does not compile.

    The compiler's messages are shown only if it succeeds: otherwise it runs again, on the file itself.
    """
    line, part = prepared.line, ""
    output = line.object() if line.objects else line.output
    if line.objects and _plain(output) and os.access(Path(output).parent, os.W_OK | os.X_OK):
        part = str(Path(output).parent / f".fl-cc.{os.getpid()}.o")
    words = [*prepared.words, *(["-o", part or output] if output else [])]
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb" and os.environ.get("GCC_COLORS") != "":
        words.insert(0, "-fdiagnostics-color=always")
    received: list[int] = []
    with (folder / "messages").open("w+b") as messages:
        child = subprocess.Popen([real, *words], stderr=messages, env=_environment(), preexec_fn=_end_with_parent)

        def forward(number: int, _: FrameType | None) -> None:
            received.append(number)
            child.send_signal(number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, forward)
        status = child.wait()
        if status == 0 and line.listed:
            listing = [real, *_listing(line)]
            status = subprocess.run(listing, stderr=subprocess.DEVNULL, env=_environment(), check=False).returncode
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        messages.seek(0)
        printed = messages.read()
    if part and Path(part).exists():
        if status == 0 and not received:
            Path(part).replace(output)
        else:
            Path(part).unlink()
    if received or status < 0:
        shutil.rmtree(folder, ignore_errors=True)
        os.kill(os.getpid(), received[0] if received else -status)
    if status == 0:
        sys.stderr.buffer.write(printed)
    return status == 0


def _listing(line: Line) -> list[str]:
    """Return the words that create the list of dependencies of the file itself."""
    words = [word for word in line.words if word != "-c"]
    for word in line.listed:
        words.append({"-MD": "-M", "-MMD": "-MM"}.get(word, word))
    if "-MF" not in line.listed:
        words += ["-MF", str(Path(line.object()).with_suffix(".d"))]
    return words if {"-MT", "-MQ"} & set(line.listed) else [*words, "-MQ", line.object()]


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
