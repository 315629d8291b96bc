"""The seal: every file of a run is covered, altered, lost and added files are reported; a signature shows by whom."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_store import CELL, a_launch

from bench import Bench
from commands import Captured, call, examples
from driver import run_of
from firstlight.commands.shared import command_line, runs
from firstlight.core.errors import ENVIRONMENT, OK, REGRESSION, USAGE, RecordError, UsageError
from firstlight.results import store as stores
from firstlight.results.record import Run
from firstlight.results.store import layout, seal, whole
from firstlight.results.store.disk import Folder

NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._+=@,~-]{0,40}(/[A-Za-z0-9._+=@,~-]{1,40})?", fullmatch=True)
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)


@given(st.dictionaries(NAMES, DIGESTS, min_size=1, max_size=20))
def test_what_is_written_is_read(digests: dict[str, str]) -> None:
    assert seal.parse(seal.text(digests)) == digests


@given(st.dictionaries(NAMES, DIGESTS, min_size=1, max_size=5), st.data())
def test_a_damaged_seal_never_says_the_same(digests: dict[str, str], data: st.DataObject) -> None:
    """Any byte altered, any tail lost: what is read differs, so a file is reported as altered or added."""
    text = seal.text(digests)
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = data.draw(st.sampled_from([text[:place], text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]]))
    with contextlib.suppress(RecordError):
        assert seal.parse(damaged) != digests


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_in_one_line(data: bytes) -> None:
    try:
        seal.parse(data)
    except RecordError as error:
        assert "\n" not in str(error)


def rewrite(run: Path, **changes: object) -> None:
    """Another run.json, without a seal."""
    with Folder.at(run) as folder:
        seal.remove(folder)
        folder.replace(layout.RUN, msgspec.json.encode(replace(stores.open(run).run(), **changes)))


def renewed(run: Path) -> None:
    with Folder.at(run) as folder:
        seal.renew(folder, ["figures.json"])


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """Return a run with two launches, a build log and its derived files, ended and sealed."""
    with stores.create(tmp_path, run_of()) as store:
        for number in range(2):
            a_launch(store, number)
        (store.path / "builds").mkdir()
        (store.path / "builds" / "dot.serial@gcc-base.log").write_text("error")
        for name in layout.DERIVED:
            (store.path / name).write_text(name)
        store.write_run(replace(run_of(), state="complete", finished=2.0, sealed=True))
        seal.write(store.folder)
    assert stores.check(store.path) == []
    return store.path


def test_other_tools_read_it(sealed: Path) -> None:
    program = shutil.which("sha256sum")
    if program is None:
        pytest.skip("no sha256sum here: coreutils brings it")
    assert subprocess.run([program, "-c", "--strict", "--quiet", layout.SEAL], cwd=sealed, timeout=60).returncode == 0
    assert seal.read(sealed)["run.json"] == hashlib.sha256((sealed / "run.json").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "name", ["run.json", "figures.json", "report.html", "builds/dot.serial@gcc-base.log", f"launches/{CELL}.0001.jsonl"]
)
def test_every_file_is_covered(sealed: Path, name: str) -> None:
    content = (sealed / name).read_bytes()
    (sealed / name).write_bytes(content + b" ")
    altered = [str(d) for d in stores.check(sealed)]
    assert [d for d in altered if d.startswith(name)], altered
    assert name.startswith("launches") or [d for d in altered if d.startswith(f"{name}: was altered after the run ")]
    (sealed / name).write_bytes(content)
    assert stores.check(sealed) == []
    (sealed / name).unlink()
    lost = [str(d) for d in stores.check(sealed)]
    assert [d for d in lost if d.startswith(f"{name}: ")], lost


def test_what_was_added_is_told(sealed: Path) -> None:
    (sealed / "builds" / "more.log").write_text("x")
    (sealed / "notes").write_text("x")
    shutil.copy(sealed / "launches" / f"{CELL}.0001.jsonl", sealed / "launches" / f"{CELL}.0002.jsonl")
    defects = [str(d) for d in stores.check(sealed)]
    assert "builds/more.log: was added after the run was sealed" in defects
    assert "notes: unknown file" in defects and any(t.startswith(f"launches/{CELL}.0002.jsonl") for t in defects)


def test_a_lost_or_damaged_seal_is_told(sealed: Path) -> None:
    whole = (sealed / layout.SEAL).read_bytes()
    for damaged, message in ((whole[:-3], "is truncated"), (b"", "is truncated"), (b"x\n" + whole, "line 1 is not")):
        (sealed / layout.SEAL).write_bytes(damaged)
        assert [d for d in stores.check(sealed) if d.file == layout.SEAL and message in d.what]
    (sealed / layout.SEAL).write_bytes(whole[whole.index(b"\n") + 1 :])
    assert [d.what for d in stores.check(sealed)] == ["was added after the run was sealed"]
    (sealed / layout.SEAL).unlink()
    (defect,) = stores.check(sealed)
    assert defect.file == layout.SEAL and "is missing" in defect.what
    (sealed / layout.SEAL).symlink_to("/etc/hostname")
    assert [d for d in stores.check(sealed) if "is a link" in d.what]


def test_a_run_from_before_there_were_seals_is_sound_and_one_that_goes_on_is_not_sealed_yet(sealed: Path) -> None:
    (sealed / layout.SEAL).unlink()
    rewrite(sealed, sealed=False, whole=None)
    assert stores.check(sealed) == []
    rewrite(sealed, sealed=True, state="running", finished=None)
    assert stores.check(sealed) == []


def test_an_altered_run_is_not_resumed_and_a_signed_one_neither(sealed: Path) -> None:
    (sealed / layout.SIGNATURE).write_text("-----BEGIN SSH SIGNATURE-----")
    with pytest.raises(UsageError, match="is signed"):
        stores.resume(sealed)
    (sealed / layout.SIGNATURE).unlink()
    (sealed / "run.json").write_bytes((sealed / "run.json").read_bytes() + b" ")
    with pytest.raises(RecordError, match=r"run\.json: was altered after the run ended"):
        stores.resume(sealed)


# --- the commands -----------------------------------------------------------------------------------------------------


@pytest.fixture
def result(bench: Bench, capsys: Captured) -> Path:
    """Return a run as firstlight leaves it, with a build that failed."""
    bench.broken = {"dot.kahan@gcc-base"}
    assert command_line.call(["run", "--launches", "2"]) == OK
    capsys.readouterr()
    return runs.find("latest")


def test_a_run_ends_sealed_and_every_edit_is_found(result: Path, capsys: Captured) -> None:
    code, out, _ = call(capsys, "check")
    assert code == OK and "no defects" in out and ", as at the end of the run" in out
    files = sorted(str(p.relative_to(result)) for p in result.rglob("*") if p.is_file())
    assert sorted([*seal.read(result), layout.SEAL]) == files and [f for f in files if f.startswith("builds/")]
    (result / "run.json").write_bytes((result / "run.json").read_bytes().replace(b'"-O2"', b'"-O3"'))
    page = result / "report.html"
    page.write_text(page.read_text() + "<p>faster</p>")
    code, out, _ = call(capsys, "check")
    assert code == REGRESSION
    assert "run.json: was altered" in out and "report.html: was altered" in out and "2 defects" in out
    assert ", not as at the end of the run" in out and ", as at" not in out
    code, out, _ = call(capsys, "check", "--json")
    found = json.loads(out)
    assert code == REGRESSION and found["covered"] == len(files) - 1 and len(found["defects"]) == 2


def test_a_report_seals_what_it_writes_and_nothing_else(result: Path, capsys: Captured) -> None:
    (result / "report.html").write_text("lost")
    (result / "figures.json").write_text("[]")
    assert call(capsys, "report")[0] == OK and call(capsys, "check")[0] == OK
    (result / "run.json").write_bytes((result / "run.json").read_bytes().replace(b'"-O2"', b'"-O3"'))
    code, _, err = call(capsys, "report")
    assert code == USAGE and "run.json: was altered after the run ended" in err
    code, out, _ = call(capsys, "check")
    assert code == REGRESSION and "run.json: was altered" in out and "1 defect\n" in out


def test_a_resumed_run_is_sealed_again_at_its_end(result: Path, capsys: Captured) -> None:
    before = seal.read(result)
    code, _, err = call(capsys, "run", "--resume", "latest", "--budget", "1s")
    assert code == OK, err
    assert call(capsys, "check")[0] == OK and seal.read(result) != before


def test_a_lost_seal_is_made_again_by_report(result: Path, capsys: Captured) -> None:
    (result / layout.SEAL).unlink()
    assert call(capsys, "check")[0] == REGRESSION
    assert call(capsys, "report")[0] == OK and call(capsys, "check")[0] == OK


def test_figures_that_another_firstlight_judged_are_no_defect_of_a_sealed_run(
    result: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = json.loads((result / "figures.json").read_bytes())
    rows[0]["ceiling"] = 1.0
    (result / "figures.json").write_text(json.dumps(rows))
    renewed(result)
    assert call(capsys, "check")[0] == REGRESSION
    monkeypatch.setattr("firstlight.runner.environment.revision", lambda: "another")
    code, out, _ = call(capsys, "check")
    assert code == OK and "judges 1 figure differently" in out
    del rows[0]["ceiling"]  # as of a firstlight that did not know this field
    for row in rows:
        del row["states"]
    (result / "figures.json").write_text(json.dumps([{**row, "ceiling": None} for row in rows]))
    renewed(result)
    assert "otherwise" not in call(capsys, "check")[1]


# --- signatures -------------------------------------------------------------------------------------------------------


@pytest.fixture
def key(tmp_path: Path) -> Path:
    program = shutil.which("ssh-keygen")
    if program is None:
        pytest.skip("no ssh-keygen here: install openssh-client")
    for name in ("key", "other"):
        subprocess.run([program, "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True, timeout=60)
    (tmp_path / "signers").write_text(f"bench@site {(tmp_path / 'key.pub').read_text()}")
    (tmp_path / "others").write_text(f"else@where {(tmp_path / 'other.pub').read_text()}")
    return tmp_path / "key"


def test_the_examples_of_the_help_work_as_typed(
    result: Path, key: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    for name in ("key", "key.pub"):
        (tmp_path / name).rename(tmp_path / ".ssh" / name.replace("key", "id_ed25519"))
    signing, checking = examples("sign", capsys)
    between = next(line for line in call(capsys, "sign", "--help")[1].splitlines() if line.strip().startswith("echo"))
    assert call(capsys, *signing)[0] == OK
    subprocess.run(["/bin/sh", "-c", between], check=True, timeout=60)
    code, out, _ = call(capsys, *checking)
    assert code == OK and "signed by benchmarks@site" in out


def test_a_signed_run_is_believed_as_far_as_its_signer(result: Path, key: Path, capsys: Captured) -> None:
    signers, others = (str(key.with_name(name)) for name in ("signers", "others"))
    signed = ("check", "--signed", "--allowed-signers")
    code, out, _ = call(capsys, *signed, signers)
    assert code == REGRESSION and "is missing: the run is not signed" in out
    assert call(capsys, "sign", "--key", str(key))[0] == OK
    code, out, _ = call(capsys, *signed, signers)
    assert code == OK and "signed by bench@site (ED25519 key SHA256:" in out
    assert json.loads(call(capsys, *signed, signers, "--json")[1])["signed_by"].startswith("bench@site")
    assert call(capsys, *signed, signers, "--identity", "bench@site")[0] == OK
    code, out, _ = call(capsys, *signed, signers, "--identity", "else@where")
    assert code == REGRESSION and "is not one of else@where but of bench@site" in out
    code, out, _ = call(capsys, *signed, others)
    assert code == REGRESSION and "a key that" in out and "does not list" in out
    code, out, _ = call(capsys, "check")
    assert code == OK and "to verify the signer: --signed --allowed-signers FILE" in out


def test_who_forges_a_seal_too_is_found_by_the_signature(result: Path, key: Path, capsys: Captured) -> None:
    assert call(capsys, "sign", "--key", str(key))[0] == OK
    forged = (result / "run.json").read_bytes().replace(b'"-O2"', b'"-O3"')
    (result / "run.json").write_bytes(whole.encoded(msgspec.json.decode(forged, type=Run), result))
    with Folder.at(result) as folder:
        seal.write(folder)
    assert call(capsys, "check")[0] == OK  # what a seal without a key cannot promise
    code, out, _ = call(capsys, "check", "--signed", "--allowed-signers", str(key.with_name("signers")))
    assert code == REGRESSION and "SHA256SUMS.sig: does not match" in out


def test_what_has_defects_is_not_signed_and_what_is_signed_is_not_written(
    result: Path, key: Path, capsys: Captured
) -> None:
    page = (result / "report.html").read_bytes()
    (result / "report.html").write_text("x")
    code, out, err = call(capsys, "sign", "--key", str(key))
    assert (
        code == REGRESSION and "report.html: was altered" in out and "not signed, because the run has 1 defect" in err
    )
    found = json.loads(call(capsys, "sign", "--key", str(key), "--json")[1])
    assert (found["signature"], found["defects"][0]["file"]) == (None, "report.html")
    (result / "report.html").write_bytes(page)
    code, out, _ = call(capsys, "sign", "--key", str(key), "--json")
    found = json.loads(out)
    assert (code, found["run"], found["defects"]) == (OK, result.name, []) and Path(found["signature"]).is_file()
    code, out, err = call(capsys, "report")
    assert code == OK and "is signed, so its page is unchanged" in err and "best figure" in out
    assert call(capsys, "check")[0] == OK
    code, _, err = call(capsys, "run", "--resume", "latest", "--budget", "1s")
    assert code == USAGE and "is signed" in err


def test_a_run_without_a_seal_gets_one_when_it_is_signed(result: Path, key: Path, capsys: Captured) -> None:
    (result / layout.SEAL).unlink()
    rewrite(result, sealed=False, whole=None)
    status, output = call(capsys, "check")[:2]
    assert status == 4 and "no seal, as in runs of earlier versions: only the launches could be checked" in output
    code, _, err = call(capsys, "sign", "--key", str(key))
    assert code == OK and "the run had no seal and is sealed now" in err
    assert call(capsys, "check", "--signed", "--allowed-signers", str(key.with_name("signers")))[0] == OK


def test_wrong_usage_and_a_missing_tool(
    result: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = tmp_path / "some"
    some.write_text("no key")
    for words, expected in (
        (["sign"], "Missing option '--key'"),
        (
            ["sign", "--key", "nowhere"],
            "nowhere: this key does not exist; create one with ssh-keygen -t ed25519 -f nowhere",
        ),
        (["sign", "nothing", "--key", str(some)], "no run named 'nothing'"),
        (["check", "--signed"], "--signed requires --allowed-signers FILE"),
        (["check", "--signed", "--allowed-signers", "nowhere"], "nowhere: this file does not exist"),
        (["check", "--identity", "me"], "require --signed"),
    ):
        code, out, err = call(capsys, *words)
        assert (code, out, err.count("\n")) == (USAGE, "", 1) and expected in err, words
    if shutil.which("ssh-keygen"):
        code, _, err = call(capsys, "sign", "--key", str(some))
        assert code == ENVIRONMENT and "did not sign with" in err and err.count("\n") == 1
    (result / layout.SIGNATURE).write_text("x")
    monkeypatch.setenv("PATH", str(tmp_path))
    for words in (["sign", "--key", str(some)], ["check", "--signed", "--allowed-signers", str(some)]):
        code, _, err = call(capsys, *words)
        assert code == ENVIRONMENT and "ssh-keygen is not installed: install openssh-client" in err


def test_a_run_that_has_not_ended_is_not_signed(result: Path, tmp_path: Path, capsys: Captured) -> None:
    rewrite(result, state="running", finished=None, whole=None)
    (tmp_path / "key").touch()
    code, _, err = call(capsys, "sign", "--key", str(tmp_path / "key"))
    assert code == USAGE and "has not ended" in err
