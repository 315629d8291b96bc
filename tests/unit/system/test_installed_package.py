"""An installed package differs from a checkout in its cache, its site file, its command and its packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from firstlight import __version__, typed
from firstlight.commands.shared.output import called
from firstlight.core.errors import FirstlightError
from firstlight.runner import environment, job
from firstlight.system import machine, packages
from firstlight.system.site import file


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"XDG_CACHE_HOME": "/a b", "HOME": "/home/x"}, "/a b/firstlight"),
        ({"XDG_CACHE_HOME": "a", "HOME": "/home/x"}, "/home/x/.cache/firstlight"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/x"}, "/home/x/.cache/firstlight"),
        ({}, "/nonexistent/.cache/firstlight"),
    ],
)
def test_its_cache_is_that_of_the_user(
    variables: Mapping[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "HOME", "FIRSTLIGHT_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(machine, "INSTALLED", True)
    assert machine.cache_directory() == Path(expected)
    monkeypatch.setenv("FIRSTLIGHT_CACHE", "/other")
    assert machine.cache_directory() == Path("/other")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_cache_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    machine.check_folders(cache)  # it does not exist yet
    (cache / "programs").mkdir(parents=True)
    machine.check_folders(cache)
    for place in (cache / "programs", cache):
        os.chown(place, 12345, 12345)
        with pytest.raises(FirstlightError, match=f"^{place} belongs to another user, .*; set FIRSTLIGHT_CACHE to"):
            machine.check_folders(cache)
        os.chown(place, 0, 0)
    monkeypatch.setattr(machine, "ROOT", tmp_path / "root")
    (tmp_path / "root").mkdir()
    os.chown(tmp_path / "root", 12345, 12345)
    os.chown(cache, 12345, 12345)  # that user's sources are run anyway
    machine.check_folders(cache)


def test_paths_that_build_tools_do_not_accept_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a:b", "a;b", "a$b", 'a"b', "a\\b", "a`b", "a\nb"):
        with pytest.raises(FirstlightError, match=r"path of the cache, .*; set FIRSTLIGHT_CACHE to another"):
            machine.check_folders(tmp_path / name)
    monkeypatch.setattr(machine, "ROOT", tmp_path / "a;b")
    with pytest.raises(FirstlightError, match=r"path of firstlight, .*; install firstlight in another folder"):
        machine.check_folders(tmp_path)


def test_its_site_file_is_next_to_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "INSTALLED", True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    assert file.find({}, tmp_path / "etc") is None
    (tmp_path / file.NAME).write_text("")
    assert file.find({}, tmp_path / "etc") == tmp_path / file.NAME


def test_its_command_and_requirements_are_those_of_the_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packages.command() == packages.ROOT / "fl"
    place = tmp_path / "bin" / "firstlight"
    files = [SimpleNamespace(name="firstlight", locate=lambda: tmp_path / "lib" / ".." / "bin" / "firstlight")]
    lines = ["click>=8.1", 'pytest>=8; extra == "test"']
    monkeypatch.setattr(packages.metadata, "distribution", lambda _: SimpleNamespace(files=files))
    monkeypatch.setattr(packages.metadata, "requires", lambda _: lines)
    for module in (packages, job, environment):
        monkeypatch.setattr(module, "INSTALLED", True)
    assert packages.command() is None and job.myself()[-1] == "firstlight" and job.myself()[0] == sys.executable
    place.parent.mkdir()
    place.write_text("")
    assert packages.command() == place and job.myself() == (str(place),)
    assert packages._required() == ["click>=8.1"]
    assert environment.revision() == __version__


@pytest.mark.parametrize("name", ["firstlight", "fl"])
def test_hints_name_it_as_it_was_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("FIRSTLIGHT_CALLED", raising=False)
    place = tmp_path / "a b" / name
    place.parent.mkdir()
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(place)])
    assert called() == f"'{place}'"
    monkeypatch.setenv("PATH", str(place.parent))
    assert called() == name


def test_paths_in_the_home_folder_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/x")
    assert typed(Path("/home/x/.cache/a b/pip")) == "~/'.cache/a b/pip'"
    assert typed(Path("/home/y/a b")) == "'/home/y/a b'"
    monkeypatch.delenv("HOME")
    assert typed(Path("/home/x/a")) == "/home/x/a"
