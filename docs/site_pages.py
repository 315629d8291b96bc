"""Collect the pages of the site from their places in the checkout, where their relative links are right."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("*.md", "docs/*.md", "docs/images/*", "docs/schema/*.json", "workloads/*/*/README.md", "CITATION.cff")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files of `docs` by all documents of the checkout and two tables that are computed from it."""
    here = [file for file in files if file.src_dir != config.docs_dir]  # the theme's
    for name in sorted(str(path.relative_to(ROOT)) for pattern in PAGES for path in ROOT.glob(pattern)):
        here.append(File(name, str(ROOT), config.site_dir, config.use_directory_urls))
    here.append(File.generated(config, "workloads/README.md", content=_workloads()))
    here.append(File.generated(config, "docs/schema/README.md", content=_schemas()))
    return Files(here)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to folders lead to the README there. Replace links to other parts of the checkout by their text."""

    def linked(link: re.Match[str]) -> str:
        target = (ROOT / page.file.src_uri).parent / link[2]
        name = str(target.resolve().relative_to(ROOT))
        if files.get_file_from_path(f"{name}/README.md"):
            return f"[{link[1]}]({link[2]}/README.md)"
        return link[1] if target.exists() and not files.get_file_from_path(name) else link[0]

    return LINK.sub(linked, markdown)


def _workloads() -> str:
    parts = ["# Workloads", "After reading this page you can choose a workload by its question."]
    for chapter in sorted({path.parent.parent for path in ROOT.glob("workloads/*/*/workload.toml")}):
        parts.append(f"## {chapter.name}\n\n| workload | question |\n|---|---|")
        for path in sorted(chapter.glob("*/workload.toml")):
            question = tomllib.loads(path.read_text(encoding="utf-8"))["question"]
            name = path.parent.name
            parts[-1] += f"\n| [{name}]({chapter.name}/{name}/README.md) | {question} |"
    return "\n\n".join(parts)


def _schemas() -> str:
    parts = ["# JSON schemas", "Each page of `--json`, each line of a launch and `run.json` have a JSON Schema.", ""]
    for path in sorted(ROOT.glob("docs/schema/*.json")):
        title = json.loads(path.read_text(encoding="utf-8"))["title"]
        parts.append(f"- [{title}]({path.name})")
    return "\n".join(parts)
