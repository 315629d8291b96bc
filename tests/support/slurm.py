"""A real Slurm for tests: its daemons, nodes that are all this host, all state in one folder, ports of its own."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path

from firstlight.toolchain.host import BARE

DAEMONS = ("munged", "slurmctld", "slurmd")

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
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=none
ReturnToService=2
KillWait={patience}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
{prolog}
{nodes}
PartitionName=debug Nodes={names} Default=YES MaxTime=INFINITE State=UP
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


_NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=1000 State=UNKNOWN"


def _free_ports(many: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(many)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Cluster:
    """Use as a context. `environment` is what makes Slurm's commands talk to it.

    `prolog`: what is run in front of each task; `export NAME=value` that it prints is of the task's environment.
    `patience`: seconds for what Slurm ends; so long it also waits for a step that did not start.
    """

    def __init__(self, folder: Path, nodes: int = 2, prolog: Path | None = None, patience: int = 60) -> None:
        self.folder, self.prolog, self.patience = folder, prolog, patience
        self.nodes = [f"n{k + 1}" for k in range(nodes)]
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        for name in ("run", "state", "log", *(f"{what}-{node}" for what in ("spool", "tmp") for node in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        ports = _free_ports(1 + len(self.nodes))
        conf = _CONF.format(
            host=_host(),
            folder=self.folder,
            ports=ports,
            patience=self.patience,
            prolog=f"TaskProlog={self.prolog}" if self.prolog else "",
            names=",".join(self.nodes),
            nodes="\n".join(
                _NODE.format(name=name, host=_host(), port=port, cpus=os.cpu_count())
                for name, port in zip(self.nodes, ports[1:], strict=True)
            ),
        )
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
            for node in self.nodes:
                self._start("slurmd", "-D", "-N", node)
            ready = f"{len(self.nodes)} idle"
            self._until(lambda: self("sinfo", "-h", "-o", "%D %T").stdout.strip() == ready, "slurmctld and slurmd")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if len(self._daemons) == len(DAEMONS) + len(self.nodes) - 1:
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
                logs = "".join(p.read_text(errors="replace")[-1000:] for p in (self.folder / "log").iterdir())
                raise RuntimeError(f"{what} did not come up: {logs}")
            time.sleep(0.1)
