"""Find faults of documents and of the strings of programs: in words, sentences, lines, tables, links and commands."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import click

from firstlight.commands.shared.command_line import group

MEDIAN_WORDS, MOST_WORDS, COLUMNS = 18, 30, 110
"""These limit a document's median sentence, 95 % of its sentences (all in strings of programs), and its lines."""

AVOIDED = {
    r"tells?|told|telling": "report, print, show, return",
    r"says?|said|saying": "report, print, show",
    r"asks?|asked": "request, default, set",
    r"gives|gave": "returns, delivers, provides",
    r"takes|took": "requires, lasts, uses",
    r"holds|held": "contains, is compared with",
    r"wants|wanted": "requires",
    r"knows|knew": "(name the actor and the fact)",
    r"carr(?:y|ies|ied|ying)": "run, execute, export",
    r"stands?(?!-)|stood|lies": "is, is stored in",
    r"nobody|whoever|everybody|somebody|anybody": "(name the actor)",
    r"beside|besides": "alongside, compared with",
    r"in turn|at once|in the place of": "alternately, simultaneously, instead of",
    r"part(?:y|ies)|fellows?|moods?|guests?|ghosts?": "processes, external command, reference line",
    r"(?:two|2) states": "bimodal",
    r"acts? like": "effective capacity",
    r"any but": "(name the flags)",
    r"(?:not|un)begun": "not started",
    r"los(?:e|es|t) against": "is slower than",
    r"stolen by": "OS noise, steal time",
    r"answers? sooner|moves? faster": "lower latency, higher bandwidth",
    r"(?<!there )(?:is|are|was|were) no(?= (?!longer|more|later|larger|smaller))": "is not a",
    r"a second(?=[.,;:)]|$)": "per second",
    r"what (?:[\w`-]+ ){0,8}(?:costs?|gives?|gets?|takes?)": "latency, bandwidth, time, rate, share",
}
"""Outside of code, the second word is plainer than the first, a regular expression."""

_AVOIDED = {re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE): better for words, better in AVOIDED.items()}
_CODE = re.compile(r"^( *)```.*?^\1```[ \t]*$", re.S | re.M)
_COMMENT, _TABLE = re.compile(r"<!--.*?-->", re.S), re.compile(r"^ *\|.*$", re.M)
_INLINE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_IMAGE, _LINK = re.compile(r"!\[[^\]]*\]\([^)]*\)"), re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
_QUOTED = re.compile(r"[\"“][^\"”\n]*[\"”]")
_ITEM = re.compile(r"^ *(?:[-*]|\d+\.) ", re.M)
_ABBREVIATION = r"(?<![ (][A-Z]\.)(?<! al\.)(?<!vs\.)(?<!Fig\.)"
_END = re.compile(rf"{_ABBREVIATION}(?<=[.!?])[)\"*_]*\s+(?=[\"(*_]?[A-Z0-9`α-ω≈]|firstlight)|:\s*$", re.M)
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.M)


class Claim(NamedTuple):
    """Describe a statement of documents: its pattern has one group, which must be the truth, in digits or letters."""

    pattern: str
    truth: int | str


def text_of(page: str) -> str:
    """Return the text without comments and blocks of code, and each piece of code within a line as one word."""
    return _LINK.sub(r"\1", _IMAGE.sub("", _INLINE.sub("`code`", _CODE.sub("\n", _COMMENT.sub("", page)))))


def sentences(page: str) -> list[str]:
    """Return the sentences of paragraphs and lists; tables, headings and code have none."""
    text = _HEADING.sub("\n", _TABLE.sub("\n", text_of(page)))
    blocks = re.split(r"\n\s*\n", _ITEM.sub("\n\n", text))
    parts = (part.strip() for block in blocks for part in _END.split(" ".join(block.split())))
    return [part for part in parts if re.search(r"\w", part)]


def words(sentence: str) -> int:
    """Return how many words the sentence has."""
    return len([w for w in sentence.split() if re.search(r"\w", w)])


def anchors(page: str) -> set[str]:
    """Return the anchors that GitHub makes of the headings."""
    headings = _HEADING.findall(_CODE.sub("", page))
    return {re.sub(r"[^\w\- ]", "", _LINK.sub(r"\1", h).lower()).replace(" ", "-") for h in headings}


def faults(page: Path, claims: list[Claim]) -> list[str]:
    """Return every fault of the document, or of the strings of a program, template or TOML file, each in one line."""
    document = page.suffix == ".md"
    text = page.read_text(encoding="utf-8") if document else strings(page)
    checks = [_words(text), _commands(text)]
    of_documents = [_lengths(text), _lines(text), _tables(text), _links(page, text), _claims(text, claims)]
    checks += of_documents if document else [_long(text)]
    return [fault for check in checks for fault in check]


SHORTEST = 3
"""A string with fewer words is the name of something rather than a sentence or a part of one."""
_WORD = re.compile(r"(?<![\w{=.-])[a-z]{2,}(?![\w}=])")
_PROGRAM = re.compile(r"::|\[\]|\w\[|#include|\\[bdsw]")
_STRINGS = {
    ".py": lambda text: _of_python(ast.parse(text)),
    ".toml": lambda text: _of_toml(tomllib.loads(text)),
    ".hpp": lambda text: _of_program(text),
}
_MARKUP = re.compile(
    r"{%.*?%}|{#.*?#}|<(?:style|script).*?</(?:style|script)>|<(?!/?(?:a|b|code|i|span)\b)[^>]*>", re.S
)


def strings(source: Path) -> str:
    """Return the strings of a source as a page: a paragraph for each line, with VALUE for each computed part."""
    text = source.read_text(encoding="utf-8")
    found = _STRINGS[source.suffix](text) if source.suffix in _STRINGS else _of_template(text)
    sentences = (s for s in found if words(s) >= SHORTEST and _WORD.search(s) and not _PROGRAM.search(s))
    return "\n\n".join(s.replace("\n", "\n\n") for s in sentences)


def _of_python(tree: ast.AST) -> Iterator[str]:
    if isinstance(tree, ast.Constant):
        if isinstance(tree.value, str):
            yield tree.value
    elif isinstance(tree, ast.JoinedStr):
        yield "".join(v.value if isinstance(v, ast.Constant) else "VALUE" for v in tree.values)
        inner = [v.value for v in tree.values if isinstance(v, ast.FormattedValue)]
        yield from (s for value in inner for s in _of_python(value))
    elif not (isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant)):  # a docstring
        yield from (s for child in ast.iter_child_nodes(tree) for s in _of_python(child))
        if isinstance(tree, ast.FunctionDef) and any("command" in ast.unparse(d) for d in tree.decorator_list):
            yield from (" ".join(s.split()) for s in (ast.get_docstring(tree) or "").split("\n\n"))  # it is the help


def _of_toml(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        yield from (s for v in inner for s in _of_toml(v))


def _of_program(text: str) -> Iterator[str]:
    """Yield how a program describes its cost, its check and its tolerance."""
    for about in re.findall(r"fl::About about{(.*?)^};", text, re.S | re.M):
        for field in re.findall(r"= *((?:\s*\"[^\"]*\")+)", about):
            yield "".join(re.findall(r"\"([^\"]*)\"", field))


def _of_template(text: str) -> Iterator[str]:
    """Yield the text between the tags of blocks; a tag within a sentence separates words."""
    for part in _MARKUP.split(text):
        yield " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"{{.*?}}", "VALUE", part, flags=re.S)).split())


def _words(page: str) -> Iterator[str]:
    text = _QUOTED.sub("...", text_of(page))
    for pattern, better in _AVOIDED.items():
        for hit in pattern.finditer(text):
            around = " ".join(text[max(0, hit.start() - 40) : hit.end() + 30].split())
            yield f"{hit.group()!r} in {around!r}: write {better}"
    for sentence in sentences(page):
        if sentence.startswith("Of "):
            yield f"begins with Of: {sentence[:60]!r}"


def _lengths(page: str) -> Iterator[str]:
    every = sentences(page)
    if len(every) < 2:
        return
    lengths = [words(s) for s in every]
    if median(lengths) > MEDIAN_WORDS:
        yield f"the median sentence has {median(lengths):g} words, more than {MEDIAN_WORDS}"
    if quantiles(lengths, n=20, method="inclusive")[-1] > MOST_WORDS:
        yield from _long(page)


def _long(page: str) -> Iterator[str]:
    for sentence in sentences(page):
        if words(sentence) > MOST_WORDS:
            yield f"{words(sentence)} words: {sentence[:100]!r}"


def _lines(page: str) -> Iterator[str]:
    """Yield long lines. Tables and code cannot be wrapped, and neither can a long word at the end of a line."""
    for line in _CODE.sub("", page).splitlines():
        if len(line) > COLUMNS and not line.lstrip().startswith("|") and " " in line[COLUMNS:]:
            yield f"{len(line)} columns: {line[:60]!r}"


def _tables(page: str) -> Iterator[str]:
    """Yield faults of tables: a second line must separate head and rows, and all lines must have as many columns."""
    for table in re.findall(r"(?:^\|.*\n)+", _CODE.sub("\n", page) + "\n", re.M):
        lines = table.splitlines()
        columns = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
        if len(lines) < 2 or not re.fullmatch(r"\|(?: *:?-+:? *\|)+", lines[1]):
            yield f"a table without a head: {lines[0][:60]!r}"
        for line, count in zip(lines, columns, strict=True):
            if count != columns[0]:
                yield f"{count - 1} columns instead of {columns[0] - 1}: {line[:60]!r}"


def typed(page: str) -> list[str]:
    """Return the command lines of `./fl` in blocks of code, except `./fl test`, which the script `fl` handles."""
    blocks = "\n".join(m.group() for m in _CODE.finditer(page)).replace("\\\n", " ")
    return re.findall(r"^ *(?:[A-Z_]+=\S* )*\./fl (?!test\b|\.\.\.|[A-Z])(.*)", blocks, re.M)


def mentioned(page: str) -> list[str]:
    """Return the commands in sentences and tables, which may be without their arguments."""
    pieces = (" ".join(code.group().strip("`").split()) for code in _INLINE.finditer(_CODE.sub("", page)))
    return [piece[5:] for piece in pieces if re.match(r"\./fl (?!test\b|\.\.\.|[A-Z])", piece)]


def _commands(page: str) -> Iterator[str]:
    """Parse commands; a command that is followed by its description in a second column is parsed without it, too."""
    for command in typed(page):
        flaws = [_flaw(c, complete=True) for c in (command, re.split(r"\s{3,}", command)[0])]
        if all(flaws):
            yield f"./fl {command}: {flaws[-1]}"
    for command in mentioned(page):
        if flaw := _flaw(command, complete=False):
            yield f"./fl {command}: {flaw}"


def _flaw(command: str, *, complete: bool) -> str:
    """Return why firstlight refuses the command; "" if it does not.

    Words in capitals stand for values, and the files of an example need not exist. A command that is not `complete` may
    lack arguments.
    """
    try:
        words = list(takewhile(lambda w: w not in {">", "|", "||", "&&"}, shlex.split(command, comments=True)))
        _parse(words)
    except ValueError as error:
        return str(error)
    except click.UsageError as error:
        flaw = error.format_message()
        if isinstance(error, click.NoSuchOption) or re.match("no (?:such )?command", flaw.lower()):
            return flaw
        stand_for_others = any(re.fullmatch(r"[A-Z]+|.*\.\.\..*", word) for word in words)
        return flaw if complete and not stand_for_others and "does not exist" not in flaw else ""
    except click.exceptions.Exit as end:  # --help and --version
        return "" if end.exit_code == 0 else "ends the program"
    return ""


def _parse(words: list[str]) -> None:
    """Parse the words as firstlight does, and run nothing. Raise UsageError."""
    context = group.make_context("./fl", words)
    while isinstance(context.command, click.Group) and (words := [*context._protected_args, *context.args]):
        name, command, words = context.command.resolve_command(context, words)
        assert command is not None
        context = command.make_context(name, words, parent=context)


def _links(page: Path, text: str) -> Iterator[str]:
    for _, target in _LINK.findall(_CODE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        aim = page.parent / name if name else page
        if not aim.exists():
            yield f"links to {target}, which is not there"
        elif anchor and anchor not in anchors(aim.read_text(encoding="utf-8")):
            yield f"links to {target}: no such heading"


_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
_MORE = "eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six twenty-seven"
NUMBERS = {word: n for n, word in enumerate(f"{_ONES} {_MORE}".split(), 1)}
_NUMBER = rf"(\d+|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"


def _claims(page: str, claims: list[Claim]) -> Iterator[str]:
    text = " ".join(_CODE.sub(" ", page).split())
    for claim in claims:
        for stated in re.finditer(claim.pattern.replace("NUMBER", _NUMBER), text, re.IGNORECASE):
            value = (stated.group(1) or "").lower()
            number = NUMBERS.get(value) or (int(value) if value.isdecimal() else value)
            if number != claim.truth:
                yield f"{stated.group()!r}: the truth is {claim.truth}"
