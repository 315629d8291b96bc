"""Arguments of a cell: the values that the planner writes are the values that every reader finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.execute.observer import program
from firstlight.model.catalogue import Value
from firstlight.model.plan import EFFORT, Cell, ExternalCommand, Placement, Program
from firstlight.model.plan.arguments import compose, number, value
from firstlight.model.plan.runtime_estimate import cases

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,7}", fullmatch=True)
NUMBERS = st.integers(1 - 2**53, 2**53 - 1) | st.floats(-(2.0**52), 2.0**52, allow_subnormal=False)
WORDS = st.from_regex(r"[A-Za-z*][A-Za-z0-9_.*?+-]{0,9}", fullmatch=True)


def cell(*arguments: str, external: ExternalCommand | None = None) -> Cell:
    return Cell("c", Program("w", "v", "gcc-base"), Placement(), arguments, external)


@given(st.dictionaries(NAMES, st.lists(NUMBERS | WORDS, min_size=1, max_size=4).map(tuple)))
def test_values_survive_the_command_line(parameters: dict[str, tuple[Value, ...]]) -> None:
    found = cell(*compose(parameters), *EFFORT["quick"].arguments)
    assert found.values == parameters
    assert [*map(type, sum(found.values.values(), ()))] == [*map(type, sum(parameters.values(), ()))]
    assert compose(found.values) == compose(parameters)
    assert found.options == {"samples": (5,), "sample-seconds": (0.002,), "case-seconds": (0.3,)}


@given(st.text(max_size=12) | (NUMBERS | WORDS).map(str))
def test_a_value_is_read_as_the_observer_reads_it(text: str) -> None:
    assert repr(value(text)) == repr(program.value(text)) and str(value(text)) == text


@pytest.mark.parametrize(("text", "one"), [("1,2", "1,2"), ("01", "01"), ("7", 7), ("0.5", 0.5), ("1e3", "1e3")])
def test_an_external_command_has_one_case(text: str, one: Value) -> None:
    external = cell(f"n={text}", "size=M", external=ExternalCommand(("true",), "/"))
    assert external.values == {"n": (one,), "size": ("M",)} and cases(external) == 1


def test_a_number_may_be_written_in_any_form() -> None:
    assert [*map(number, cell("n=7,1e3,07,M").values["n"])] == [7, 1000, 7, None]


def test_the_cases_are_all_combinations() -> None:
    found = cell("n=1,2,3", "dt=0.5,x", "--threads", "1,2", "--samples", "7")
    assert cases(found) == 6
    assert found.options == {"threads": (1, 2), "samples": (7,)}
    assert (found.option("samples", 5), found.option("case-seconds", 10.0)) == (7, 10.0)
