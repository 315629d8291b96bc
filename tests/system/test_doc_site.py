"""The documents as a site: it is built, complete and without parts from the network, and a broken link is an error."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shipped
from firstlight import ROOT

SOURCES = ("*.md", "mkdocs.yml", "CITATION.cff", "docs/**/*", "workloads/*/*/README.md", "workloads/*/*/workload.toml")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of all files of the site, with empty folders instead of the other ones that documents mention."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]' installs it")
    copy = tmp_path / "checkout"
    for source in (path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file()):
        place = copy / source.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)
    for folder in (path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")):
        (copy / folder.name).mkdir(exist_ok=True)
    for name in ("contrib", "native"):
        shutil.copytree(ROOT / name, copy / name, dirs_exist_ok=True)
    return copy


def build(checkout: Path, site: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(site)]
    return subprocess.run(words, cwd=checkout, env=os.environ, capture_output=True, text=True, timeout=120)


@pytest.mark.full
def test_the_site_is_complete_and_needs_no_network(checkout: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = build(checkout, site)
    assert done.returncode == 0, done.stderr
    pages = {str(page.parent.relative_to(site)): page.read_text() for page in site.rglob("index.html")}
    documents = {f"docs/{page.stem}" for page in (ROOT / "docs").glob("*.md")}
    workloads = {str(shipped.folder(name).relative_to(ROOT)) for name in shipped.workloads()}
    assert pages.keys() >= documents | workloads | {".", "CONTRIBUTING", "workloads", "docs/schema"}
    for name, text in pages.items():
        assert re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*", text) == [], name
        assert re.findall(r"^(?:[-*|]|\d+\.) [^<\n]*$|```", text, re.M) == [], f"{name}: Markdown that is not rendered"


def test_every_document_is_in_the_navigation() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    generated = {"workloads/README.md", "docs/schema/README.md"}
    documents = {str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))}
    assert sorted(listed) == sorted(documents | generated)


@pytest.mark.full
@pytest.mark.parametrize("link", ["nothing.md", "method.md#no-such-heading", "../nowhere", "/docs/method.md"])
def test_a_broken_link_ends_the_build(checkout: Path, tmp_path: Path, link: str) -> None:
    with (checkout / "docs" / "tutorial.md").open("a") as page:
        page.write(f"\n[Here]({link})\n")
    done = build(checkout, tmp_path / "site")
    assert done.returncode == 1 and link in done.stderr
