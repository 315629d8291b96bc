"""The GPUs that a program started here may use and their links, as the drivers report. Damaged output is ignored."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from firstlight.system.machine import Gpu, gpu_links, parse
from firstlight.system.process import bounded

MOST = 256
"""No node has more GPUs than this: a longer list is damaged text."""
OF_AMD = "AMD GPU"
"""The name of a GPU that only AMD's tool lists."""
_QUERY = ("nvidia-smi", "--query-gpu=uuid,compute_cap,memory.total,name", "--format=csv,noheader,nounits")

Ask = Callable[[tuple[str, ...]], str]
"""A function that runs a command and returns its output, "" if the command fails."""


class Reported(msgspec.Struct, frozen=True):
    """One GPU of the node with its driver's identifier, which is matched against CUDA_VISIBLE_DEVICES, never kept."""

    uuid: str
    gpu: Gpu


def discover(root: Path, environment: Mapping[str, str] | None = None, ask: Ask | None = None) -> tuple[Gpu, ...]:
    """Return the GPUs in the order in which a program counts them. `root` is "/" except in tests. Never raises.

    Without nvidia-smi (some containers) the driver's files still show how many there are, and their names.
    """
    given = os.environ if environment is None else environment
    reported = query((ask or _run)(_QUERY)) or files(root)
    return visible(reported, given.get("CUDA_VISIBLE_DEVICES"))


def linked(
    gpus: int, environment: Mapping[str, str] | None = None, ask: Ask | None = None
) -> tuple[int, gpu_links.Links]:
    """Return the number of GPUs that only AMD's tool lists, and the links of all usable GPUs.

    `gpus`: the number that NVIDIA's driver reported. AMD's tool prints neither names nor memory in a form that is the
    same in all of its versions.
    """
    given, run = os.environ if environment is None else environment, ask or _run
    if gpus:
        links = gpu_links.chosen(gpu_links.nvidia(run(gpu_links.NVIDIA)), given.get("CUDA_VISIBLE_DEVICES"))
        return 0, links if len(links) == gpus else ()
    links = gpu_links.amd(run(gpu_links.AMD))
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        links = gpu_links.chosen(links, given.get(name))
    return len(links), links


def alone(number: int, gpus: Sequence[Gpu], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return variables that show a program only that one of the usable GPUs. Raises IndexError if it does not exist.

    CUDA counts the fastest first unless the environment selects the driver's order, which `gpus` has.
    """
    given = os.environ if environment is None else environment
    if gpus[number].name != OF_AMD:
        return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": _word(given, "CUDA_VISIBLE_DEVICES", number)}
    inner = "HIP_VISIBLE_DEVICES"  # counts what the other one leaves
    name = inner if given.get(inner) is not None else "ROCR_VISIBLE_DEVICES"
    return {name: _word(given, name, number)}


def _word(given: Mapping[str, str], name: str, number: int) -> str:
    """Return the name of a GPU among those that the variable lists; its number if the variable is not set."""
    chosen = given.get(name)
    return str(number) if chosen is None else chosen.split(",")[number].strip()


def query(text: str) -> tuple[Reported, ...]:
    """Parse lines of nvidia-smi: `GPU-1a2b..., 9.0, 143771, NVIDIA H200`; memory in MiB."""
    found = []
    for line in text.splitlines()[:MOST]:
        words = [word.strip() for word in line.split(",", 3)]
        if len(words) != 4 or not words[0].startswith("GPU-") or not words[3]:
            continue
        capability = words[1] if re.fullmatch(r"[0-9]{1,2}\.[0-9]", words[1], re.ASCII) else ""
        memory = parse.number(words[2])
        found.append(Reported(words[0], Gpu(words[3], capability, memory << 20 if memory else None)))
    return tuple(found)


def files(root: Path) -> tuple[Reported, ...]:
    """Read /proc/driver/nvidia/gpus/ADDRESS/information, in the order of the bus."""
    found = []
    for file in sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))[:MOST]:
        try:
            block = parse.fields(file.read_text(errors="replace"))
        except OSError:
            continue
        if block and block[0].get("Model"):
            found.append(Reported(block[0].get("GPU UUID", ""), Gpu(block[0]["Model"])))
    return tuple(found)


def visible(reported: tuple[Reported, ...], chosen: str | None) -> tuple[Gpu, ...]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES lists, in its order; like CUDA, stop at the first unknown entry.

    A part of a GPU (MIG-...) counts as one, by a name of its own.
    """
    if chosen is None:
        return tuple(one.gpu for one in reported)
    kept: list[Gpu] = []
    for word in (part.strip() for part in chosen.split(",")[:MOST]):
        number = parse.number(word)
        if number is not None and number < len(reported):
            kept.append(reported[number].gpu)
        elif reported and word.startswith("MIG-"):
            kept.append(Gpu(f"part of {reported[0].gpu.name}", reported[0].gpu.capability))
        elif match := [one.gpu for one in reported if word.startswith("GPU-") and one.uuid.startswith(word)]:
            kept.append(match[0])
        else:
            break
    return tuple(kept)


def _run(words: tuple[str, ...]) -> str:
    return bounded.output(words, timeout=20)
