"""Build hook of hatchling: write the man pages that the wheel installs into share/man/man1."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManPages(BuildHookInterface):  # type: ignore[type-arg]
    """Write a man page for each command, from the command itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the pages and add them to the wheel."""
        sys.path.insert(0, str(Path(self.root) / "src"))
        from firstlight.commands.shared.reference import write_man_pages

        self._folder = tempfile.TemporaryDirectory()
        write_man_pages(Path(self._folder.name))
        build_data["shared_data"][self._folder.name] = "share/man/man1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the pages, which are in the wheel now."""
        self._folder.cleanup()
