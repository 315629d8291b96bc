"""Fuzz readers with Atheris: `python tests/fuzz/one.py [TARGET ...] [--inputs N] [--seed S] [--keep FOLDER]`.

Without a target it lists them; `all` stands for every one. An input that breaks a reader is written to FOLDER as
TARGET-crash-..., one that takes too long or too much as TARGET-timeout-... and TARGET-oom-...; `--replay FILE` reads
such a file again, without Atheris.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "support")]

SECONDS, MEGABYTES = 60, 2048
"""For one input; more is a defect, also on a busy machine."""


def main() -> int:
    words = argparse.ArgumentParser(description="Fuzz readers of what others write.")
    words.add_argument("targets", nargs="*")
    words.add_argument("--inputs", type=int, default=0, help="of each; 0: as many as the tests try")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--keep", type=Path, default=Path())
    words.add_argument("--replay", type=Path)
    arguments = words.parse_args()
    if arguments.replay is not None:
        for name in arguments.targets:
            tried(name, arguments.replay.read_bytes())
        return 0
    if arguments.targets:
        import atheris

        with atheris.instrument_imports(include=["firstlight"]):
            from fuzz.targets import TARGETS
    else:
        from fuzz.targets import TARGETS

        print(*TARGETS, sep="\n")
    wanted = TARGETS if arguments.targets == ["all"] else {name: TARGETS[name] for name in arguments.targets}
    broken = [name for name in wanted if in_a_child(name, arguments) != 0]
    print(f"{len(wanted) - len(broken)} readers held" + (f"; broken: {', '.join(broken)}" if broken else ""))
    return 1 if broken else 0


def in_a_child(name: str, arguments: argparse.Namespace) -> int:
    """Fuzz one target and return its exit status. Atheris ends its process; what is imported is imported once."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            tempfile.tempdir = folder
            fuzz(name, arguments, Path(folder) / "corpus")
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fuzz(name: str, arguments: argparse.Namespace, corpus: Path) -> None:
    import atheris

    from fuzz.targets import TARGETS

    target = TARGETS[name]

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if target.change is None or rng.random() < 0.1:
            return bytes(atheris.Mutate(data, most))
        return target.change(data, rng)[:most]

    corpus.mkdir()
    for k, sample in enumerate(target.samples()):
        (corpus / f"sample{k}").write_bytes(sample)
    options = [
        sys.argv[0], f"-runs={arguments.inputs or target.inputs}", f"-seed={arguments.seed}", f"-timeout={SECONDS}",
        f"-rss_limit_mb={MEGABYTES}", f"-max_len={1 << 20}", "-len_control=0", "-verbosity=0",
        f"-artifact_prefix={arguments.keep}/{name}-", str(corpus),
    ]  # fmt: skip
    atheris.Setup(options, lambda data: tried(name, data), custom_mutator=mutated)
    atheris.Fuzz()


def tried(name: str, data: bytes) -> None:
    """Read one input. The documented errors are an answer; whatever else is raised is not."""
    from firstlight.core.errors import FirstlightError
    from fuzz.targets import TARGETS

    try:
        TARGETS[name].read(data)
    except FirstlightError as error:
        assert str(error), "an error without a word"


if __name__ == "__main__":
    sys.exit(main())
