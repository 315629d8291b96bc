"""The release: each file that names the version names that of the package; recipes have tests of their own."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

from firstlight import ROOT, __version__
from firstlight.commands.shared import old_spellings
from firstlight.system import mpi_families


def test_the_newest_section_of_the_changelog_and_the_citation_name_the_version_and_its_date() -> None:
    sections = re.findall(r"^## (.+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    citation = (ROOT / "CITATION.cff").read_text()
    stated = [re.search(rf"^{key}: (\S+)$", citation, re.M) for key in ("version", "date-released")]
    assert [match and match[1] for match in stated] == list(sections[0])
    assert sections[0][0] == __version__


def test_earlier_spellings_work_in_one_release() -> None:
    """A release that reaches the version which removes them cannot contain them."""
    until = old_spellings.UNTIL
    assert [int(part) for part in __version__.split(".")] < [int(part) for part in until.split(".")]
    assert f"old_spellings.py` alone; version {until} removes it" in (ROOT / "docs/architecture.md").read_text()
    assert f"spellings work until version {until}" in " ".join((ROOT / "CHANGELOG.md").read_text().split())


def test_each_package_that_installers_fetch_is_listed_with_its_licence() -> None:
    """Only some packages state their licence as an expression; the others are not compared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [re.split("[<>=]", one)[0] for one in project["dependencies"]]
    embedded = [family.name for family in mpi_families.every() if family.embedded]
    listed = dict(re.findall(r"^\| ([\w-]+) \| (\S.*?) \| \S.* \|$", (ROOT / "THIRD_PARTY.md").read_text(), re.M))
    listed.pop("package")
    assert set(listed) == {*needed, *embedded} and "THIRD_PARTY.md" in project["license-files"]
    for name in needed:
        stated = metadata.metadata(name).get("License-Expression")
        assert stated is None or stated.replace(" OR ", " or ") in listed[name], name
