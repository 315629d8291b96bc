"""Mutants: which changes are worth a try; the lists of what no check can find; a fixed sample with its floor."""

from __future__ import annotations

from pathlib import Path

import pytest

import mutant_trials
import mutants
import native
from firstlight.model.catalogue import Workload

FLOOR = 0.95
"""Least share of the mutants that are not equivalent which the checks find."""

SAMPLED = {"dot": 2, "stream": 1, "peak": 2, "kernel_launch": 4, "waiting": 2, "vector_sum": 1, "collectives": 2}
"""The number of mutants per file for the workloads in CI: two minutes in all."""


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        ("  for (; i + width < n; i += width)", "  for (; i + width <= n; i += width)", "operator"),
        ("  for (; i + width < n; i += width)", "  for (; i - width < n; i += width)", "operator"),
        ("  for (; i + width < n; i += width)", "  for (; i + width < n; i -= width)", "operator"),
        ("  sum += x[i];", "  sum += x[i + 1];", "index"),
        ("  double sum = 0;", "  double sum = 1;", "constant"),
        ("  double sum = 0;", "  double sum = (0+1);", "constant"),
        ("  lost = next - sum;", "  lost = -(next - sum);", "sign"),
        ("  wait(all);", "  /*wait(all);*/", "statement dropped"),
        ("  sum += x;", "  sum += x; sum += x;", "statement doubled"),
        ("  if (i < n) wait(i);", "  if (0==1) wait(i);", "condition"),
        ("  send(a, b);", "  send ( b,a);", "swapped"),
        ("  at = flag ? 1 : 2;", "  at = flag ? 2 : 1;", "swapped"),
        # no C++, no code, or no change of what is done
        ("  std::vector<double> x(n);", "  std::vector<=double> x(n);", ""),
        ("  double* x = s.x.data();", "  double+ x = s.x.data();", ""),
        ("  std::int64_t i = 0;", "  std::int(64+1)_t i = 0;", ""),
        ('  fail("no send");', '  fail("");', ""),
        ("#include <cmath>", "#include >cmath>", ""),
        ("// a + b", "// a - b", ""),
        ("  const int n = 1;", "  /*const int n = 1;*/", ""),
        ("  wait(all);", "  wait(all); wait(all);", ""),
        ("  for (int i = 0; i < n; ++i) f(i);", 2 * "  for (int i = 0; i < n; ++i) f(i);"[1:], ""),
        ("  for (int i = 0; i < n; ++i) f(i);", "  for (int i = 0; i != n; ++i) f(i);", ""),
        ("  return sum;", "  /*return sum;*/", ""),
        ("  run(a,", "  /*run(a,*/", ""),
        ("FL_VARIANT(dot, step)", "FL_VARIANT(step,dot)", ""),
    ],
)
def test_changes_that_are_worth_compiling(was: str, now: str, kind: str) -> None:
    assert mutants.sensible(was, now) == kind


@pytest.mark.full
def test_the_sample_does_not_change_with_other_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    file = tmp_path / "a.cpp"
    code = "void f(int n) {\n  int sum = 0;\n  for (int i = 0; i < n; ++i) sum += a[i];\n  g(sum, n);\n  sum += n;\n}\n"
    file.write_text(code)
    before = mutants.mutants(file)
    assert {m.kind for m in before} >= {"operator", "constant", "index", "statement dropped", "statement doubled"}
    file.write_text("// one more line\n\n" + code)
    after = mutants.mutants(file)
    assert [(m.key, m.was, m.now, m.number + 2) for m in before] == [(m.key, m.was, m.now, m.number) for m in after]
    changed = after[0].text().splitlines()
    assert changed[after[0].number - 1] == after[0].now
    assert [i for i, (a, b) in enumerate(zip(changed, file.read_text().splitlines(), strict=True), 1) if a != b] == [
        after[0].number
    ]


def test_the_judge_is_never_changed() -> None:
    for workload in native.workloads.values():
        files = {file.name for file in mutants.timed(workload)}
        assert f"{workload.name}.hpp" not in files and not any(name.startswith("broken_") for name in files)
    assert {"simd.cpp", "unrolled.hpp"} <= {file.name for file in mutants.timed(native.workloads["dot"])}


@pytest.mark.parametrize("workload", native.workloads.values(), ids=lambda w: w.name)
def test_what_is_listed_as_equivalent_is_a_line_of_its_file_and_has_a_reason(workload: Workload) -> None:
    declaration = mutants.declared(workload)
    here = {file.name: file for file in workload.folder.rglob("*")}  # also what nothing here can build
    files = here | {file.name: file for file in mutants.timed(workload)}
    for entry in declaration.equivalent:
        assert len(entry.reason) > 10, entry
        assert entry.was.strip() in [line.strip() for line in files[entry.file].read_text().splitlines()], entry
    near = {file.name for file in (*workload.folder.rglob("*.[hc]pp"), *workload.folder.parent.glob("*.[hc]pp"))}
    assert all(name in near and len(why) > 10 for name, why in declaration.without.items())
    for case in declaration.cases:
        assert any(mutants.fnmatchcase(v.name, p) for v in mutants.judged(workload) for p in case.variants), case


@pytest.mark.full
@pytest.mark.native
@pytest.mark.parametrize("name", SAMPLED)
def test_a_fixed_sample_of_mutants_is_found(name: str) -> None:
    """./fl test --mutants runs more of them and reports the survivors."""
    if native.toolchain("base") is None:
        pytest.skip("no gcc here")
    trial = mutant_trials.Trial(native.workloads[name], jobs=2)
    verdicts = mutant_trials.sample(trial, SAMPLED[name], jobs=2)
    survivors = "\n".join(v.mutant.diff() for v in verdicts if v.fate == mutant_trials.SURVIVED)
    assert mutant_trials.score(verdicts) >= FLOOR, f"{mutant_trials.summary(verdicts)}\n{survivors}"
