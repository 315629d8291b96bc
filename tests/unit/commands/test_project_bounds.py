"""Files of node classes and powers that no computation can use are refused in one line."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from firstlight.commands.project import machines, projector
from firstlight.core.errors import UsageError
from refusals import UNREADABLE, refuses_an_unreadable_file

CLASS = (machines.FOLDER / "light.toml").read_text()
NUMBERS = re.findall(r"^(\w+) = \{ value = ", CLASS, re.MULTILINE)


@pytest.mark.parametrize("number", ["0", "0.0", "-1.0", "1e-320", "1e-300", "1e300", "inf", "nan", "1e400"])
def test_a_class_of_nodes_has_numbers_within_bounds(tmp_path: Path, number: str) -> None:
    file = tmp_path / "mine.toml"
    for name in NUMBERS:
        file.write_text(re.sub(rf"^{name} = \{{ value = [^,]+,", f"{name} = {{ value = {number},", CLASS, flags=re.M))
        with pytest.raises(UsageError, match=f": {name} without a positive value"):
            machines.named(str(file))


def test_a_rack_has_at_least_one_node(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(CLASS.replace("value = 1024", "value = 0.3"))
    with pytest.raises(UsageError, match="rack without a positive value"):
        machines.named(str(file))


@pytest.mark.parametrize("number", [machines.LEAST_VALUE, machines.MOST_VALUE])
@pytest.mark.parametrize("name", [name for name in NUMBERS if not name.endswith("_share")])
def test_a_class_at_its_bounds_is_computed(tmp_path: Path, name: str, number: float) -> None:
    number = max(number, 1.0) if name == "rack" else number
    file = tmp_path / "mine.toml"
    file.write_text(re.sub(rf"^{name} = \{{ value = [^,]+,", f"{name} = {{ value = {number},", CLASS, flags=re.M))
    of, plan = machines.named(str(file)), machines.roadmap()
    for model in machines.MODELS:
        fits = machines.fits(of, 2018, model, plan, projector.MOST_WATTS)
        assert math.isfinite(fits.peak) and math.isfinite(fits.watts)


@pytest.mark.parametrize(
    "text", ["9" * 400 + "W", "9" * 300 + "GW", "1000001GW", "0." + "0" * 400 + "1W", "0kW", "-1W", "infW", "nanW", "W"]
)
def test_a_power_is_within_bounds(text: str) -> None:
    with pytest.raises(UsageError, match="write a power of at most") as caught:
        projector.watts(text, "--power")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_class_of_nodes_is_read_within_a_bound(what: str, tmp_path: Path) -> None:
    refuses_an_unreadable_file(lambda path: machines.named(str(path)), machines.MOST, what, tmp_path)
