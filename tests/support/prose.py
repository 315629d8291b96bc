"""Faults of a document that a program can find: words, sentences, lines, links and counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

MEDIAN_WORDS, MOST_WORDS, COLUMNS = 18, 30, 110
"""A document's median sentence, the length of 95 % of its sentences, and its longest line."""

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
    r"stolen by": "OS noise, steal time",
    r"answers? sooner|moves? faster": "lower latency, higher bandwidth",
    r"(?<!there )(?:is|are|was|were) no(?= (?!longer|more|later|larger|smaller))": "is not a",
    r"a second(?=[.,;:)]|$)": "per second",
    r"what (?:[\w`-]+ ){0,8}(?:costs?|gives?|gets?|takes?)": "latency, bandwidth, time, rate, share",
}
"""What plain English has a better word for, outside of code; and the better word."""

_AVOIDED = {re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE): better for words, better in AVOIDED.items()}
_CODE = re.compile(r"^( *)```.*?^\1```[ \t]*$", re.S | re.M)
_TABLE = re.compile(r"^ *\|.*$", re.M)
_INLINE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_IMAGE, _LINK = re.compile(r"!\[[^\]]*\]\([^)]*\)"), re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
_QUOTED = re.compile(r"[\"“][^\"”\n]*[\"”]")
_ITEM = re.compile(r"^ *(?:[-*]|\d+\.) ", re.M)
_END = re.compile(r"(?<![ (][A-Z]\.)(?<!al\.)(?<!vs\.)(?<!Fig\.)(?<=[.!?])[)\"*_]*\s+(?=[\"(*_]?[A-Z0-9`])|:\s*$", re.M)
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.M)


class Claim(NamedTuple):
    """A count that documents state: a pattern with one group, and the number that it must be."""

    pattern: str
    count: int


def text_of(page: str) -> str:
    """Return the text without blocks of code, and each piece of code within a line as one word."""
    return _LINK.sub(r"\1", _IMAGE.sub("", _INLINE.sub("`code`", _CODE.sub("\n", page))))


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
    """Return every fault of the document, each in one line."""
    text = page.read_text(encoding="utf-8")
    return [*_words(text), *_lengths(text), *_lines(text), *_links(page, text), *_counts(text, claims)]


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
        for sentence in every:
            if words(sentence) > MOST_WORDS:
                yield f"{words(sentence)} words: {sentence[:100]!r}"


def _lines(page: str) -> Iterator[str]:
    """Tables and code cannot be wrapped, and neither can the link at the end of a line."""
    for line in _CODE.sub("", page).splitlines():
        if len(line) > COLUMNS and not line.lstrip().startswith("|") and " " in line[COLUMNS:]:
            yield f"{len(line)} columns: {line[:60]!r}"


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


NUMBERS: Mapping[str, int] = {
    word: n
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five".split()
    )
}
_NUMBER = rf"(\d+|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"


def _counts(page: str, claims: list[Claim]) -> Iterator[str]:
    text = " ".join(_CODE.sub(" ", page).split())
    for claim in claims:
        for stated in re.finditer(claim.pattern.replace("NUMBER", _NUMBER), text, re.IGNORECASE):
            value = stated.group(1).lower()
            if (NUMBERS[value] if value in NUMBERS else int(value)) != claim.count:
                yield f"{stated.group()!r}: {claim.count} are there"
