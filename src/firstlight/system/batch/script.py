"""The job script: a header of directives, then a few lines of shell that begin the run, or resume it."""

from __future__ import annotations

from shlex import join, quote

from firstlight.system.batch.system import JobRequest, System, Work

_TIMER = """\
# {label} does not warn this script before the time limit, so the script warns itself. SIGTERM has the effect of Ctrl-C.
(
    left={seconds}
    while [ "$left" -gt 0 ] && kill -0 $$; do
        sleep 20
        left=$((left - 20))
    done
    [ "$left" -gt 0 ] || kill -TERM $$
) </dev/null >/dev/null 2>&1 &
"""


def write(system: System, request: JobRequest, work: Work) -> str:
    """Return the whole script. Raises UsageError if the batch system's directives cannot express the request."""
    parts = [
        "#!/bin/bash -l" if work.setup else "#!/bin/bash",  # a login shell has `module`
        *system.header(request),
        "",
        f"# A run of firstlight: {request.name}. To resume the run, submit this script again.",
        "",
        "give_up() {",
        "    printf 'firstlight job: %s\\n' \"$1\" >&2",
        "    exit 3",
        "}",
    ]
    for line in work.setup:  # before `set -u`: modules and profiles use variables that are not set
        parts += ["{", line, f"}} || give_up {quote(f'this set-up failed: {line}')}"]
    parts += ["", "set -u"]
    parts += [f"export {name}={quote(value)}" for name, value in sorted(work.variables.items())]
    parts += [f"cd {quote(str(work.folder))} || give_up {quote(f'cannot enter {work.folder}')}", ""]
    if not system.WARNS:
        parts += [_TIMER.format(label=system.LABEL, seconds=max(60, round(request.seconds - request.warning)))]
    run = quote(str(work.record))
    parts += [
        f"if [ -e {run} ]; then",
        f"    exec {join(work.resume)}",
        "fi",
        f"exec {join(work.begin)}",
        "",
    ]
    return "\n".join(parts)
