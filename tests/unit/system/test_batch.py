"""Job scripts: what is written for each batch system, what is refused, and how the systems' answers are read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import ENVIRONMENT, FirstlightError, UsageError
from firstlight.system import batch
from firstlight.system.batch import JobRequest, State, Work
from firstlight.system.batch.queue import clean

SYSTEMS = batch.systems()
WORK = Work(
    folder=Path("/home/me/my codes"),
    record=Path("/home/me/results/first") / "run.json",
    begin=("/home/me/fl", "run", "dot", "--toolchain", "gcc-*", "--as", "first"),
    resume=("/home/me/fl", "run", "--resume", "/home/me/results/first"),
    setup=("module load gcc/13",),
    variables={"FIRSTLIGHT_CACHE": "/scratch/it's mine"},
)
HEADERS = {
    "slurm": """\
#SBATCH --job-name=first
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=64
#SBATCH --time=01:30:00
#SBATCH --output=/home/me/results/jobs/first/output.txt
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --partition=short
#SBATCH --account=phys1
#SBATCH --constraint=rome
""",
    "pbs": """\
#PBS -N fl-first
#PBS -l select=4:ncpus=64:mpiprocs=64
#PBS -l place=scatter:excl
#PBS -l walltime=01:30:00
#PBS -j oe
#PBS -o /home/me/results/jobs/first/output.txt
#PBS -r y
#PBS -q short
#PBS -A phys1
#PBS --constraint=rome
""",
    "lsf": """\
#BSUB -J first
#BSUB -n 256
#BSUB -R "span[ptile=64]"
#BSUB -x
#BSUB -W 1:30
#BSUB -o /home/me/results/jobs/first/output.txt
#BSUB -r
#BSUB -q short
#BSUB -P phys1
#BSUB --constraint=rome
""",
    "flux": """\
# flux: --job-name=first
# flux: --nodes=4
# flux: --nslots=256
# flux: --cores-per-slot=1
# flux: --time-limit=90m
# flux: --output=/home/me/results/jobs/first/output.txt
# flux: --queue=short
# flux: --bank=phys1
# flux: --constraint=rome
""",
}
BODY = """\

# A run of firstlight: first. To resume the run, submit this script again.

give_up() {
    printf 'firstlight job: %s\\n' "$1" >&2
    exit 3
}
{
module load gcc/13
} || give_up 'this set-up failed: module load gcc/13'

set -u
export FIRSTLIGHT_CACHE='/scratch/it'"'"'s mine'
cd '/home/me/my codes' || give_up 'cannot enter /home/me/my codes'

"""
ENDING = """\
if [ -e /home/me/results/first/run.json ]; then
    exec /home/me/fl run --resume /home/me/results/first
fi
exec /home/me/fl run dot --toolchain 'gcc-*' --as first
"""


def request(**changes: object) -> JobRequest:
    given: dict[str, object] = {
        "name": "first",
        "seconds": 5370.0,
        "warning": 120.0,
        "output": Path("/home/me/results/jobs/first/output.txt"),
        "nodes": 4,
        "per_node": 64,
        "partition": "short",
        "account": "phys1",
        "directives": ("--constraint=rome",),
    }
    return JobRequest(**(given | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_whole_script(name: str) -> None:
    text = batch.write(SYSTEMS[name], request(), WORK)
    assert text.startswith("#!/bin/bash -l\n" + HEADERS[name] + BODY)
    assert text.endswith(ENDING)
    timer = text[len("#!/bin/bash -l\n" + HEADERS[name] + BODY) : -len(ENDING)]
    assert ("left=5250" in timer and "kill -TERM $$" in timer) if not SYSTEMS[name].WARNS else timer == ""


def run_script(tmp_path: Path, system: str, setup: tuple[str, ...] = (), seconds: float = 600) -> tuple[int, str]:
    """Run a script as a batch system would; the "run" prints its arguments and ends with status 7."""
    fake = tmp_path / "the fl"
    fake.write_text('#!/bin/sh\necho "called: $*"\necho "cache: $FIRSTLIGHT_CACHE"\nexit 7\n')
    fake.chmod(0o755)
    directory = tmp_path / "my results" / "first"
    work = Work(
        tmp_path,
        directory / "run.json",
        (str(fake), "run", "a b"),
        (str(fake), "resume"),
        setup,
        {"FIRSTLIGHT_CACHE": "x y"},
    )
    script = tmp_path / "script.sh"
    script.write_text(batch.write(SYSTEMS[system], request(seconds=seconds), work))
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_script_begins_a_run_or_resumes_it_and_ends_with_its_status(name: str, tmp_path: Path) -> None:
    assert run_script(tmp_path, name) == (7, "called: run a b\ncache: x y\n")
    (tmp_path / "my results" / "first").mkdir(parents=True)
    (tmp_path / "my results" / "first" / "run.json").touch()
    assert run_script(tmp_path, name, ("echo $NOT_SET", "X=1")) == (7, "\ncalled: resume\ncache: x y\n")


def test_a_set_up_that_fails_ends_the_job_with_one_line(tmp_path: Path) -> None:
    status, output = run_script(tmp_path, "slurm", ("false # no such module",))
    assert (status, output) == (3, "firstlight job: this set-up failed: false # no such module\n")


def test_whole_nodes_are_asked_for_where_no_count_is_given() -> None:
    assert "#SBATCH --exclusive" in SYSTEMS["slurm"].header(request(per_node=None))
    assert "# flux: --exclusive" in SYSTEMS["flux"].header(request(per_node=None))
    with pytest.raises(UsageError, match="--per-node"):
        SYSTEMS["pbs"].header(request(per_node=None))


def gpu_words(name: str, **changes: object) -> list[str]:
    """Return the directives that four GPUs per node add or change."""
    plain = SYSTEMS[name].header(request(**changes))
    return [line for line in SYSTEMS[name].header(request(gpus=4, **changes)) if line not in plain]


def test_gpus_are_asked_for_by_the_node() -> None:
    assert gpu_words("slurm") == gpu_words("slurm", per_node=None) == ["#SBATCH --gpus-per-node=4"]
    assert gpu_words("pbs") == ["#PBS -l select=4:ncpus=64:mpiprocs=64:ngpus=4"]
    slots = "# flux: --nslots=4"
    assert gpu_words("flux") == [slots, "# flux: --cores-per-slot=64", "# flux: --gpus-per-slot=4"]
    assert gpu_words("flux", per_node=None) == [slots, "# flux: --gpus-per-slot=4"]


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("path", ["/a b/out", "/a/%j", "/a/x\n#SBATCH --mail-user=me", '/a/"', "/a/{{id}}"])
def test_paths_that_directives_cannot_hold_are_refused(name: str, path: str) -> None:
    with pytest.raises(UsageError, match="job script"):
        SYSTEMS[name].header(request(output=Path(path)))


@pytest.mark.parametrize(
    ("name", "printed", "job"),
    [
        ("slurm", "4711\n", "4711"),
        ("slurm", "4711;cluster\n", "4711"),
        ("slurm", "Submitted batch job", None),
        ("pbs", "12.server.site\n", "12.server.site"),
        ("pbs", "qsub: waiting", None),
        ("flux", "f2dUTEBdT\n", "f2dUTEBdT"),
        ("flux", "ƒ2dUTEBdT\n", "ƒ2dUTEBdT"),
        ("flux", "", None),
        # OLCF, Summit Scheduler and Job Launch Introduction (C. Fuson, May 2019), and the manual of bsub
        ("lsf", "Job <29209> is submitted to default queue <batch>.\n", "29209"),
        ("lsf", "Job <3206> is submitted to queue <normal>.\n", "3206"),
        ("lsf", "JobRequest aborted by esub. Job not submitted.\n", None),
    ],
)
def test_the_name_of_a_job(name: str, printed: str, job: str | None) -> None:
    assert SYSTEMS[name].job(printed) == job


@pytest.mark.parametrize(
    ("name", "printed", "state"),
    [
        ("slurm", "JobId=5 JobName=x JobState=PENDING Reason=None ExitCode=0:0", State("waiting", "PENDING")),
        ("slurm", "JobId=5 JobState=COMPLETING ExitCode=0:0", State("running", "COMPLETING")),
        ("slurm", "JobId=5 JobState=COMPLETED DerivedExitCode=0:0 ExitCode=0:0", State("ended", "COMPLETED", 0)),
        ("slurm", "JobId=5 JobState=FAILED DerivedExitCode=9:0 ExitCode=1:0", State("ended", "FAILED", 1)),
        ("slurm", "JobId=5 JobState=CANCELLED ExitCode=0:15", State("ended", "CANCELLED")),
        ("slurm", "NODE_FAIL|0:0\n", State("ended", "NODE_FAIL")),
        ("slurm", "JobId=5 JobState=CANCELLED ExitCode=130:0", State("ended", "CANCELLED", 130)),
        ("slurm", "", None),
        ("pbs", "Job Id: 12.s\n    job_state = Q\n", State("waiting", "Q")),
        ("pbs", "    job_state = R\n", State("running", "R")),
        ("pbs", "    job_state = F\n    Exit_status = 130\n", State("ended", "F", 130)),
        ("pbs", "    job_state = F\n    Exit_status = 271\n", State("ended", "F")),
        ("flux", "SCHED  \n", State("waiting", "SCHED")),
        ("flux", "RUN\n", State("running", "RUN")),
        ("flux", "INACTIVE COMPLETED 0\n", State("ended", "COMPLETED", 0)),
        ("flux", "INACTIVE CANCELED \n", State("ended", "CANCELED")),
        ("flux", "what?\n", None),
        ("lsf", "PEND -\n", State("waiting", "PEND")),
        ("lsf", "RUN -\n", State("running", "RUN")),
        ("lsf", "DONE -\n", State("ended", "DONE", 0)),
        ("lsf", "EXIT 130\n", State("ended", "EXIT", 130)),
        ("lsf", "EXIT -\n", State("ended", "EXIT")),
        ("lsf", "Job <7> is not found\n", None),
    ],
)
def test_the_state_of_a_job(name: str, printed: str, state: State | None) -> None:
    assert SYSTEMS[name].state(printed) == state


@pytest.mark.parametrize("name", SYSTEMS)
@given(printed=st.one_of(st.text(), st.text(alphabet="JobStateExitCode=0:|RUNING job_state \n", max_size=80)))
def test_no_answer_makes_a_system_raise(name: str, printed: str) -> None:
    SYSTEMS[name].job(printed)
    SYSTEMS[name].state(printed)


@given(
    st.one_of(st.none(), st.floats(60, 1e6)),
    st.one_of(st.none(), st.floats(1, 1e5)),
    st.one_of(st.none(), st.floats(1, 1e4)),
    st.sampled_from([120.0, 900.0, 7200.0]),
)
def test_a_limit_covers_what_it_has_to_or_is_refused(
    time: float | None, budget: float | None, setup: float | None, usual: float
) -> None:
    try:
        limits = batch.agree(time, budget, usual, setup)
    except UsageError as error:
        assert "Set --time" in str(error) and "\n" not in str(error)
        assert time is not None
        return
    assert limits.budget > 0 and limits.budget == (budget if budget is not None else min(usual, limits.budget))
    assert limits.time >= limits.setup + limits.budget + limits.warning - 1e-6
    assert time is None or limits.time == time


def test_limits_by_example() -> None:
    assert batch.agree(None, None, 120, None).time == 20 * 60
    assert batch.agree(3600, None, 900, None).budget == 900
    assert batch.agree(20 * 60, None, 900, 600).budget == 20 * 60 - 600 - 180
    with pytest.raises(UsageError, match="Set --time 48m"):
        batch.agree(1800, 1800, 900, None)


def test_a_new_job_inherits_nothing_of_the_job_it_is_submitted_from() -> None:
    given = {
        "SLURM_CONF": "/c",
        "SLURM_NTASKS": "4",
        "SLURM_JOB_ID": "1",
        "PBS_NODEFILE": "n",
        "PATH": "p",
        "PMI_RANK": "0",
    }
    assert clean(given) == {"SLURM_CONF": "/c", "PATH": "p"}


def fake_system(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str, name: str = "sbatch") -> Path:
    program = folder / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    script = folder / "script.sh"
    script.touch()
    return script


def test_a_job_that_is_not_taken_is_told_in_the_batch_systems_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = fake_system(tmp_path, monkeypatch, "echo 'sbatch: error: invalid account' >&2; exit 1")
    with pytest.raises(FirstlightError, match="Slurm did not accept the job: sbatch: error: invalid account"):
        batch.submit(SYSTEMS["slurm"], script)
    fake_system(tmp_path, monkeypatch, 'echo "12;here"')
    assert batch.submit(SYSTEMS["slurm"], script) == "12"


def test_the_batch_system_is_found_by_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FirstlightError, match="no batch system was found") as none:
        batch.choose(None)
    assert none.value.code == ENVIRONMENT  # as `./fl submit --help` describes
    with pytest.raises(UsageError, match="no batch system named 'oar'; available: flux, lsf, pbs, slurm"):
        batch.choose("oar")
    for command in ("qsub", "sbatch"):
        (tmp_path / command).touch(mode=0o755)
        if command == "qsub":
            assert batch.choose(None) is SYSTEMS["pbs"]
    with pytest.raises(UsageError, match="--system pbs or slurm"):
        batch.choose(None)
