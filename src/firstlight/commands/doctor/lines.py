"""Check what each line of the site file does here, and which of them are wrong."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

import msgspec

from firstlight.core.errors import ENVIRONMENT, OK, USAGE, FirstlightError
from firstlight.model import catalogue
from firstlight.runner import energy
from firstlight.system import site
from firstlight.system.energy import command
from firstlight.system.site import Choice, Read, Site, launchers, modules
from firstlight.system.site.entries import OPTIONS, folder
from firstlight.toolchain import SITE_FLAGS, Toolbox

Survey = Callable[[], Toolbox]
"""A function that returns what is here, before the site file excludes anything."""


class Entry(msgspec.Struct, frozen=True):
    """One entry: its line, its content, and its effect. `well`: the entry works on this machine."""

    line: int
    key: str
    value: str
    did: str
    well: bool


class Examined(msgspec.Struct, frozen=True):
    """A site file. `faults`: wrong lines, which are ignored. `path` is None if there is no file."""

    path: str | None
    entries: tuple[Entry, ...]
    faults: tuple[site.Fault, ...]

    @property
    def code(self) -> int:
        if self.faults:
            return USAGE
        return OK if all(entry.well for entry in self.entries) else ENVIRONMENT


def examine(read: Read, survey: Survey, batch: Mapping[str, str], environment: Mapping[str, str]) -> Examined:
    """Try each entry of a site file. `batch`: the known batch systems, each with the program that submits."""
    if read.path is None:
        return Examined(None, (), ())
    tried = _Trial(read.site, survey, batch, environment)
    entries = [
        Entry(line, ".".join(keys), _shown(value), *tried.did(keys, value))
        for keys, line in sorted(read.lines.items(), key=lambda entry: entry[1])
        if not read.faults and not isinstance(value := _value(read.site, keys), dict | msgspec.Struct)
    ]
    return Examined(str(read.path), tuple(entries), read.faults)


def text(examined: Examined) -> str:
    """Return one paragraph per entry: its place and value, then what it did."""
    if examined.path is None:
        return "there is no site file; site files are optional, see docs/site.md"
    path = Path(examined.path)
    lines = [f"wrong    {fault.format(path)}" for fault in examined.faults]
    for entry in examined.entries:
        lines.append(f"{'ok' if entry.well else 'PROBLEM':<8} {path}:{entry.line}: {entry.key} = {entry.value}")
        lines.append(f"{'':<8} {entry.did}")
    if not lines:
        lines.append(f"{path} has no entries")
    return "\n".join(lines)


def _value(whole: Site, keys: Sequence[str]) -> object:
    found: object = whole
    for key in keys:
        found = found[key] if isinstance(found, dict) else getattr(found, key)
    return found


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()


class _Trial:
    """Try the effect of entries. The survey of the machine runs at most once."""

    def __init__(self, whole: Site, survey: Survey, batch: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.whole = whole
        self.survey = survey
        self.batch = batch
        self.environment = environment

    def did(self, keys: tuple[str, ...], value: object) -> tuple[str, bool]:
        """Return what the entry did, and whether it can do that here."""
        match keys:
            case ("results",):
                return _results(Path(folder(str(value))))
            case ("path",):
                missing = [f for f in self.whole.path if not Path(folder(f)).is_dir()]
                what = f"there is no folder {', '.join(missing)}" if missing else "these folders precede PATH"
                return what, not missing
            case ("modules",):
                return f"firstlight loads [toolchains.{value}] unless --modules names another", True
            case ("toolchains", name, "modules"):
                return self._modules(name)
            case ("compilers", "flags"):
                kept = [
                    t.name for t in self._toolbox.toolchains if site.chosen(self.whole.compilers, t.compiler, t.name)
                ]
                names = ", ".join(f"{name}{SITE_FLAGS}" for name in kept)
                return (
                    f"every flag set contains these flags, the judge never does: {names or 'no compiler is selected'}"
                ), bool(kept)
            case ("compilers" | "mpi" as table, _):
                return self._choice(table, getattr(self.whole, table), tuple(value) if isinstance(value, tuple) else ())
            case ("targets", name, key):
                return self._target(name, key)
            case ("name",):
                return f"pages show {value} as the name of this machine; --name replaces it", True
            case ("launcher",):
                return self._launcher(str(value))
            case ("submit", "system") if value not in self.batch:
                return f"unknown batch system; firstlight supports {', '.join(self.batch)}", False
            case ("submit", "system") if shutil.which(self.batch[str(value)]) is None:
                return f"{self.batch[str(value)]} is not on the search path: no job can be submitted from here", False
            case ("submit", key):
                name = OPTIONS.get(key, key).replace("_", "-").replace("limit", "time")
                words = value if isinstance(value, tuple) else (value,)
                return "./fl submit " + " ".join(f"--{name} {_shown(word)}" for word in words), True
            case ("hardware", key):
                what = {"clock": "the nominal arithmetic", "memory": "the nominal bandwidth of the memory"}[key]
                return f"./fl run compares measured figures with {what}, line `hardware` of the page", True
            case ("energy", "interval"):
                return "./fl run runs `[energy] command` at this interval", bool(self.whole.energy.command)
            case ("energy", _):
                found = energy.discover()
                why = next((str(one) for one in found.denied if one.what == command.WHAT), "")
                return why or "./fl run reads the node's power from this source", not why
            case ("storage", name):
                place = Path(folder(str(value)))
                able = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
                return (
                    f"./fl run can measure the storage target {name}"
                    if able
                    else "not a directory that you can write to"
                ), able
            case ("limits", title):
                known = {row.title for w in catalogue.load(catalogue.roots()).values() for row in w.rows}
                return ("./fl health compares this row", True) if title in known else ("no row has this title", False)
        return "firstlight uses this entry", True

    def _launcher(self, launcher: str) -> tuple[str, bool]:
        if launchers.is_template(launcher):
            words = launchers.template(launcher)
            if shutil.which(words[0], path=self.environment.get("PATH")) is None:
                return f"{words[0]} is not on the search path", False
            example = " ".join(words).format(ranks=8, nodes=2, per_node=4, threads=1)
            return f"firstlight starts 8 ranks on 2 nodes with {example} PROGRAM; --launcher overrides this", True
        return f"firstlight starts MPI programs with {launcher} inside an allocation; --launcher overrides this", True

    @cached_property
    def _toolbox(self) -> Toolbox:
        return self.survey()

    def _modules(self, name: str) -> tuple[str, bool]:
        try:
            found = modules.changes(self.whole.toolchains[name].modules, self.environment)
        except FirstlightError as error:
            return str(error), False
        path = found.get("PATH") or self.environment.get("PATH", os.defpath)
        compiler, wrapper = shutil.which("c++", path=path), shutil.which("mpicxx", path=path)
        tools = ", ".join(f"{what} is {where}" for what, where in (("c++", compiler), ("mpicxx", wrapper)) if where)
        return (
            f"--modules {name} changes {', '.join(found) or 'nothing'}; {tools or 'no compiler is on the path'}",
            True,
        )

    def _target(self, name: str, key: str) -> tuple[str, bool]:
        """Check that the programs and folders of a target exist; ./fl --target NAME doctor checks that they work."""
        target = self.whole.targets[name]
        path = self.environment.get("PATH", os.defpath)
        tools = {"compilers": target.compilers, "run": target.run[:1]}.get(key, ())
        missing = [word for word in tools if shutil.which(word, path=path) is None]
        missing += [word for word in (target.mpi if key == "mpi" else ()) if not Path(folder(word)).is_dir()]
        if missing:
            return f"{', '.join(missing)} does not exist here", False
        return f"./fl --target {name} uses this entry; ./fl --target {name} doctor tests the target", True

    def _choice(self, table: str, choice: Choice, patterns: Sequence[str]) -> tuple[str, bool]:
        here: dict[str, tuple[str, ...]] = {t.name: (t.compiler, t.name) for t in self._toolbox.toolchains}
        if table == "mpi":
            here = {m.name: (m.name,) for m in self._toolbox.mpis}
        odd = [p for p in patterns if not any(fnmatchcase(name, p) for names in here.values() for name in names)]
        kept = [name for name, names in here.items() if site.chosen(choice, *names)]
        left = [name for name in here if name not in kept]
        if odd:
            return f"{', '.join(odd)} matches nothing on this machine, which has {', '.join(here) or 'none'}", False
        return f"selected: {', '.join(kept) or 'none'}; excluded: {', '.join(left) or 'none'}", bool(kept)


def _results(place: Path) -> tuple[str, bool]:
    there = next(path for path in (place, *place.parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        return f"runs cannot be stored in {place}: {there} cannot be written", False
    return (
        f"runs are stored in {place}{'' if place.exists() else ', which the first run creates'}; "
        "--results chooses another folder",
        True,
    )
