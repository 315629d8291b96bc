"""Roles: the meaning of a workload's figures for code that is independent of workloads; `[[roles]]` in workload.toml.

Findings, fits, validation and tuning look up a role; any workload can declare it, and several may.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from firstlight.core import formulas

MESSAGE = "message"
PLAIN_MESSAGE = "plain_message"
EXCHANGED_MESSAGE = "exchanged_message"
MESSAGE_IN_A_ROW = "message_in_a_row"
EXCHANGE_IN_A_ROW = "exchange_in_a_row"
WRITTEN_MESSAGE = "written_message"
COLLECTIVE = "collective"
EXCHANGE = "exchange"
HALO = "halo"
PATTERN = "pattern"
ITERATION = "iteration"
APPLICATION = "application"
LIBRARY_SUM = "library_sum"
VECTOR_ADDITION = "vector_addition"
MEMORY_ACCESS = "memory_access"
OS_NOISE = "os_noise"
BUSY_WAITING = "busy_waiting"
FILE_TRANSFER = "file_transfer"
DEVICE_TRANSFER = "device_transfer"
SMALL_SYNC = "small_sync"
CHECKPOINT_TIME = "checkpoint_time"
RESTART_TIME = "restart_time"
LOCAL_CHECKPOINT_TIME = "local_checkpoint_time"
LOCAL_RESTART_TIME = "local_restart_time"
EXECUTION = "execution"
EXECUTION_CPU = "execution_cpu"
EXECUTION_MEMORY = "execution_memory"


class Kind(NamedTuple):
    """A role that is known: what its figures are, and which further keys its declaration must have."""

    sentence: str
    keys: tuple[str, ...] = ()


KINDS = {
    MESSAGE: Kind("the one-way time of a message between two processes; preferred variants first", ("size",)),
    PLAIN_MESSAGE: Kind(
        "the one-way time of a message with plain blocking calls, as in textbook models of collectives", ("size",)
    ),
    EXCHANGED_MESSAGE: Kind(
        "the time of a message while another of the same length travels in the opposite direction", ("size",)
    ),
    MESSAGE_IN_A_ROW: Kind(
        "the one-way time per message in a sequence; a variant represents variants with the same name in other "
        "workloads",
        ("size",),
    ),
    EXCHANGE_IN_A_ROW: Kind(
        "the one-way time per message in a sequence, while messages of the same length travel in "
        "the opposite direction",
        ("size",),
    ),
    WRITTEN_MESSAGE: Kind(
        "the one-way time per message in a sequence, if each message is written before sending and read after arrival",
        ("size",),
    ),
    COLLECTIVE: Kind(
        "the time of a collective operation, with the MPI library's own call and with schedules named as their "
        "variants",
        ("operation", "size", "library"),
    ),
    EXCHANGE: Kind(
        "the time of a step in which processes send messages to neighbours; the cost counts one message in a chain "
        "per phase",
        ("messages",),
    ),
    HALO: Kind(
        "the time of a halo exchange with one of several strategies; workloads with a choice request the best "
        "strategy of this machine",
        ("size", "answer"),
    ),
    PATTERN: Kind(
        "the time of an iteration of a communication pattern, with simultaneous messages within a phase",
        ("pattern",),
    ),
    ITERATION: Kind(
        "the time on one core of an iteration whose dependencies on sums over all processes are known",
        ("stages",),
    ),
    APPLICATION: Kind(
        "the time of a step of an application whose work and messages are known for any size and number of processes",
        ("model",),
    ),
    LIBRARY_SUM: Kind(
        "the time of an allreduce sum, with the MPI library's own call and with messages of the same library",
        ("size", "library", "call"),
    ),
    VECTOR_ADDITION: Kind("the bandwidth of c = a + b, which moves three bytes for each byte of c"),
    MEMORY_ACCESS: Kind("the latency of dependent memory accesses to random addresses of the working set"),
    OS_NOISE: Kind("the share of the processors' time that OS noise uses"),
    BUSY_WAITING: Kind("the share of the waiting time during which a waiting process keeps its processor busy"),
    FILE_TRANSFER: Kind(
        "the bandwidth of durable writes or cold reads of files, through the page cache",
        ("operation", "size", "layout", "target"),
    ),
    DEVICE_TRANSFER: Kind(
        "the bandwidth of durable writes or cold reads of files, without the page cache",
        ("operation", "size", "layout", "target"),
    ),
    SMALL_SYNC: Kind("the time until a small write is durable", ("target",)),
    CHECKPOINT_TIME: Kind(
        "the time for which a checkpoint blocks a program, until the saved state survives the loss of any node",
        ("size",),
    ),
    RESTART_TIME: Kind("the time to restore the state from a checkpoint that survives the loss of any node", ("size",)),
    LOCAL_CHECKPOINT_TIME: Kind(
        "the time for which a checkpoint in the nodes blocks a program; the saved state survives the loss of one node",
        ("size",),
    ),
    LOCAL_RESTART_TIME: Kind(
        "the time to restore the state from a checkpoint in the nodes, after the loss of one node", ("size",)
    ),
    EXECUTION: Kind("the wall time of one execution of a user's command"),
    EXECUTION_CPU: Kind("the CPU time of one execution of a user's command"),
    EXECUTION_MEMORY: Kind("the largest resident set of a process of a user's command"),
}
OF_COMMANDS = frozenset({EXECUTION, EXECUTION_CPU, EXECUTION_MEMORY})
"""Roles that only external commands have."""
_BRACES = re.compile(r"\{([^{}]*)\}")
_KEYS = ("operation", "size", "library", "call", "messages", "pattern", "stages", "model", "answer", "layout", "target")


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The work of a step at any size, as formulas of the case's parameters, of E (elements of the whole problem) and of
    P (processes).

    `elements`: E as a function of the parameters. `flops`, `bytes`: of all processes, bounded by these ceilings
    (`flops_of`, `bytes_of`). `memory`: the total memory. `filling`: the share of memory that the problem fills, if its
    size is free.

    Messages have one of three forms, each with formulas in braces: `stages`, as `./fl simulate stages` reads them; a
    `pattern` with `values`; a `collective` of a `message` in bytes in each `group` of ranks, with the algorithm `by` or
    the best one. `repeats`: their number per step. `alone`: the variants whose work on one core equals that of the
    others. `widest`: the maximum number of processes. `steps`: names of numbers that other formulas use, in order.
    """

    title: str
    elements: str
    memory: str
    flops: str = "0"
    bytes: str = "0"
    flops_of: str = "flops_64"
    bytes_of: str = "bandwidth"
    steps: dict[str, str] = {}
    stages: str = ""
    pattern: str = ""
    values: dict[str, str] = {}
    collective: str = ""
    message: str = ""
    group: str = "P"
    by: str = ""
    repeats: str = "1"
    filling: float = 0.0
    alone: list[str] = []

    def numbers(self, parameters: Mapping[str, float], elements: float, processes: float) -> dict[str, float]:
        """Return the numbers that formulas can use, by name. Raises FormulaError."""
        found = {**parameters, "E": elements, "P": processes}
        for name, text in self.steps.items():
            found[name] = formulas.value(text, found)
        return found

    def filled(self, text: str, numbers: Mapping[str, float]) -> str:
        """Replace each formula in braces with its value, rounded to a whole number. Raises FormulaError."""
        return _BRACES.sub(lambda found: f"{formulas.value(found[1], numbers):.0f}", text)

    def defect(self) -> str:
        """Return the defect of this model, "" if it has none."""
        some = [self.elements, self.memory, self.flops, self.bytes, self.repeats, self.group, *self.steps.values()]
        templates = (self.stages, *self.values.values())
        try:
            for text in (
                *some,
                *([self.message] if self.message else []),
                *(inside for one in templates for inside in _BRACES.findall(one)),
            ):
                formulas.names(text)
        except formulas.FormulaError as error:
            return str(error)
        if (bool(self.stages), bool(self.pattern), bool(self.collective)).count(True) != 1:
            return "exactly one of `stages`, `pattern` and `collective` must describe its messages"
        if bool(self.collective) != bool(self.message) or (self.values and not self.pattern):
            return "`message` requires `collective`, and `values` require `pattern`"
        return "" if 0 <= self.filling <= 1 else f"`filling`: {self.filling} is not a share"


class Role(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[roles]]` entry: the `metric` of the selected cases (`where`) and variants has the role.

    `device`: only variants whose steps run on a GPU, or only variants whose steps do not.

    `size`: the parameter for the length of a message or a vector, in elements of `bytes_per_element`; if the role has
    an `answer`, a formula of parameters. `operation`: the parameter that names the collective, by firstlight's names.
    `library`: the variant that calls the MPI library; `call`: the function that it calls. `titles`: names of variants
    for sentences.

    `messages`: the number of messages of a process per phase, all of equal size; `in_turn`: they are sent and received
    one after the other; `copies`: how often the process itself copies their words.

    `pattern`: the parameter that names the pattern; `small`: the value of `sizes` for short iterations (otherwise: the
    defaults of the pattern).

    `stages`: the work of every process, by name, as `./fl simulate stages` reads it; numbers of work are shares.

    `model`: the work of a step at any size and number of processes.

    `layout`, `target`: the parameters for the layout of shared files and for the storage target.

    `answer`: the value of a parameter that requests the role (`[[asks]]`), if these variants are the best.
    """

    role: str
    metric: str
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    where: dict[str, int | str] = {}
    device: bool = False
    size: str = ""
    bytes_per_element: int = 1
    operation: str = ""
    library: str = ""
    call: str = ""
    titles: dict[str, str] = {}
    messages: int = 0
    in_turn: bool = False
    copies: int = 0
    pattern: str = ""
    small: bool = False
    stages: str = ""
    model: Model | None = None
    answer: str = ""
    layout: str = ""
    target: str = ""


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[asks]]` entry: where no user sets `parameter` of these variants, it receives the best of a role in the
    newest run of this machine that measured it, and `otherwise` where there is none, or nothing was better.

    `size`: bytes of a message, about, a formula of the case's parameters and of P (processes): what was measured with
    the nearest size is used. `usual`: the parameters that it concerns, where a case leaves them to the program.
    """

    parameter: str
    role: str
    otherwise: str
    size: str
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    usual: dict[str, float] = {}

    def bytes(self, parameters: Mapping[str, float], processes: int) -> float:
        """Return the size of a message in bytes. Raises FormulaError."""
        return formulas.value(self.size, {**self.usual, **parameters, "P": processes})


def defect_of_ask(ask: Ask, variants: Sequence[str]) -> str:
    """Return the defect of an `[[asks]]` entry of a workload with these variants, "" if it has none."""
    if "answer" not in getattr(KINDS.get(ask.role), "keys", ()):
        able = ", ".join(name for name, kind in KINDS.items() if "answer" in kind.keys)
        return f"`role`: {ask.role!r} is not a role with an answer; possible roles are {able}"
    try:
        if unknown := formulas.names(ask.size) - {*ask.usual, "P"}:
            return f"`usual` lacks {min(unknown)}, which `size` names"
    except formulas.FormulaError as error:
        return f"`size`: {error}"
    return _unmatched(ask.variants, variants)


def _unmatched(patterns: Sequence[str], variants: Sequence[str]) -> str:
    lone = (p for p in patterns if not any(fnmatchcase(name, p) for name in variants))
    return next((f"`variants`: no variant matches {p!r}" for p in lone), "")


def defect(role: Role, variants: Sequence[str]) -> str:
    """Return the defect of a `[[roles]]` entry of a workload with these variants: the key and the reason, or ""."""
    kind = KINDS.get(role.role)
    if kind is None:
        return f"`role`: unknown role {role.role!r}; the roles are {', '.join(KINDS)}"
    for key in _KEYS:
        given = bool(getattr(role, key))
        if given != (key in kind.keys):
            return f"`{key}`: the role {role.role} {'has no such key' if given else 'requires this key'}"
    if role.model is not None and (wrong := role.model.defect()):
        return f"`model`: {wrong}"
    if min(role.messages, role.copies) < 0:
        return "`messages`, `copies`: must not be negative"
    if role.bytes_per_element < 1:
        return f"`bytes_per_element`: {role.bytes_per_element} is not a number of bytes"
    if wrong := _unmatched(role.variants, variants):
        return wrong
    for key, name in (*(("titles", name) for name in role.titles), *([("library", role.library)] * bool(role.library))):
        if name not in variants:
            return f"`{key}`: there is no variant {name!r}"
    return ""
