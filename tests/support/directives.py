"""Run variants with directives on machines without a device: the host executes their unchanged loops instead."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

import native
from firstlight.execute.build import Built, build
from firstlight.model.catalogue import Workload, load

HOST = """namespace {

fl::device::Seen believed() {
  fl::device::Seen seen;
  seen.place = fl::device::on_device;
  fl::device::put(seen.address, "0");
  return seen;
}
constexpr fl::device::Runtime host{
    "the host", [] { return std::string(); }, [] { return 1; }, [](int) {}, [] {}, believed};

}  // namespace

"""
OTHERS = ("*.cpp", "*.cu", "*.f90", "drawings", "report.py")
"""Files of a workload's folder that its headers do not need."""
NAMING = re.compile(r"^plain = .*?\n|^\[\[roles\]\].*?(?=^\[\[(?!roles)|\Z)", re.MULTILINE | re.DOTALL)
"""In `workload.toml`: what names variants that are not copied."""


def on_the_host(workload: Workload, variant: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Built:
    """Return the program of a variant whose prefix is `acc` or `target`; skip the test if gcc does not support these
    directives.
    """
    kind = variant.partition("_")[0]
    tool, box = native.toolchain("base"), native.toolbox()
    offloads = [o for o in box.offloads if (o.capability, o.compiler) == (kind, "gcc")]
    if tool is None or not offloads:
        pytest.skip(f"no gcc with {kind} here")
    copy = folder / workload.folder.parent.name / workload.name
    shutil.copytree(workload.folder, copy, ignore=shutil.ignore_patterns(*OTHERS))
    settings = copy / "workload.toml"
    settings.write_text(NAMING.sub("", settings.read_text(encoding="utf-8")))
    before, named, after = workload.variant(variant).source.read_text(encoding="utf-8").partition("FL_VARIANT(")
    after, count = re.subn(r"&fl::device::open(acc|mp)\b", "&host", after)
    assert count == 1
    (copy / f"{variant}_here.cpp").write_text(before + HOST + named + after)
    monkeypatch.setenv("FIRSTLIGHT_WORKLOADS", str(copy.parent))
    workloads = load([copy.parent])
    here = replace(box, offloads=tuple(replace(o, device="", flags=(*o.flags, "-foffload=disable")) for o in offloads))
    (wanted,) = native.programs(workloads[workload.name], workloads[workload.name].variant(f"{variant}_here"), tool)
    (made,) = build([wanted], here, workloads, native.CACHE, options=native.STRICT).values()
    assert made.error == ""
    return made
