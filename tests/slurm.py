"""A real Slurm for tests: its daemons, two nodes that are both this host, all state in one folder, ports of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path

from firstlight.toolchains.host import BARE

DAEMONS = ("munged", "slurmctld", "slurmd")
NODES = ("n1", "n2")

_CONF = """\
ClusterName=box
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.sock
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=none
ReturnToService=2
KillWait=60
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Why no Slurm can be started here, or ""."""
    if os.environ.get(BARE):
        return f"{BARE} hides it"
    missing = [name for name in (*DAEMONS, "sbatch", "srun") if _program(name) is None]
    if missing:
        return f"no {', '.join(missing)} here: apt install slurm-wlm munge"
    if os.geteuid() != 0:
        return "slurmd starts jobs as their users: only root can run it"
    try:
        socket.getaddrinfo(_host(), None)
    except OSError:
        return f"the name of this host, {_host()}, has no address"
    return ""


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin")


def _free_ports() -> list[int]:
    with socket.socket() as one, socket.socket() as two, socket.socket() as three:
        for each in (one, two, three):
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in (one, two, three)]


class Cluster:
    """Use as a context. `environment` is what makes Slurm's commands talk to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        for name in ("run", "state", "spool-n1", "spool-n2", "log"):
            (self.folder / name).mkdir(parents=True)
        conf = _CONF.format(host=_host(), folder=self.folder, ports=_free_ports(), cpus=os.cpu_count())
        (self.folder / "slurm.conf").write_text(conf)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        run, log = self.folder / "run", self.folder / "log"
        munge = [f"--key-file={key}", f"--socket={run}/munge.sock", f"--pid-file={run}/munged.pid"]
        munge += [f"--log-file={log}/munged.log", f"--seed-file={run}/munge.seed", "--force", "--foreground"]
        try:
            self._start("munged", *munge)
            self._until(lambda: (run / "munge.sock").exists(), "munged")
            self._start("slurmctld", "-D")
            for node in NODES:
                self._start("slurmd", "-D", "-N", node)
            self._until(lambda: self("sinfo", "-h", "-o", "%D %T").stdout.strip() == "2 idle", "slurmctld and slurmd")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if len(self._daemons) == len(DAEMONS) + len(NODES) - 1:
            self("scancel", "--user=root", "--signal=KILL", "--full")
            self("scancel", "--user=root")
        for process in reversed(self._daemons):
            process.terminate()
        for process in self._daemons:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one of Slurm's commands."""
        return subprocess.run(words, env=os.environ | self.environment, capture_output=True, text=True, timeout=60)

    def state(self, job: str) -> str:
        shown = self("scontrol", "--oneliner", "show", "job", job).stdout
        return next((w.partition("=")[2] for w in shown.split() if w.startswith("JobState=")), "")

    def _start(self, name: str, *options: str) -> None:
        program = _program(name)
        assert program is not None
        with (self.folder / "log" / f"{name}-{options[-1].strip('-')}.out").open("wb") as out:
            self._daemons.append(
                subprocess.Popen(
                    [program, *options],
                    env=os.environ | self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def _until(self, ready: object, what: str) -> None:
        assert callable(ready)
        deadline = time.monotonic() + 60
        while not ready():
            if time.monotonic() > deadline or any(p.poll() is not None for p in self._daemons):
                said = "".join(p.read_text(errors="replace")[-1000:] for p in (self.folder / "log").iterdir())
                raise RuntimeError(f"{what} did not come up: {said}")
            time.sleep(0.1)
