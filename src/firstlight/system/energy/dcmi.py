"""IPMI's Data Center Manageability Interface: the power of the node, as its management controller measures it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from firstlight.system.energy import Denied, Meter, Source, first
from firstlight.system.energy.printed import PrintedGauge

PLACE = 50
UPDATE = 5.0
"""Seconds: controllers average over one to several seconds, and each request keeps one of them busy."""
READING = re.compile(r"Instantaneous power reading:\s*(\d+(?:\.\d+)?)\s*Watts")
DEVICES = ("dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0")


def find(root: Path, command: str = "", interval: float = 1.0) -> Source | Denied | None:
    """Return the gauge, if the interface is here and its user may use it."""
    device = next((root / name for name in DEVICES if (root / name).exists()), None)
    if device is None:
        return None
    what = "power of the node, read with IPMI"
    if not os.access(device, os.R_OK | os.W_OK):
        fix = f"give a group of users access to {device}, or set [energy] command in the site file"
        return Denied(what, "only root has access", fix)
    if shutil.which("ipmitool") is None:
        return Denied(what, "ipmitool is not on PATH", "install ipmitool")
    gauge = PrintedGauge(("ipmitool", "dcmi", "power", "reading"), UPDATE, READING)
    try:
        found = first(gauge, UPDATE)
    except OSError:
        found = None
    if found is None:
        return Denied(what, "the management controller reports no power", "set [energy] command in the site file")
    return Source(Meter("ipmi", "the whole node", UPDATE), gauge=gauge)
