"""The signature: OpenSSH's own (`ssh-keygen -Y`), over the seal and through it over every file of a run.

A key identifies who vouches for a run. An allowed-signers file lists the trusted signers, one line each: NAME KEY.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from firstlight.core.errors import FirstlightError, UsageError
from firstlight.results.store import durable, layout, seal
from firstlight.system.process import bounded

NAMESPACE = "firstlight-run"
TOOL = "ssh-keygen"
PATIENCE = 60.0  # seconds for a verification; signing may request a passphrase and waits


class SignatureError(FirstlightError):
    """`ssh-keygen` is not installed, or it refused the request."""


def sign(run: Path, key: Path) -> None:
    """Sign the seal with a private key, or with a public one whose private half is in the agent.

    Raises UsageError if there is no such key, SignatureError if ssh-keygen fails.
    """
    if not key.is_file():
        raise UsageError(f"{key}: this key does not exist; create one with ssh-keygen -t ed25519 -f {key}")
    done = _run(["sign", "-f", str(key), "-n", NAMESPACE, "-q"], seal.text(seal.read(run)), None)
    if done.returncode != 0 or not done.stdout.startswith("-----BEGIN SSH SIGNATURE-----"):
        raise SignatureError(f"{TOOL} did not sign with {key}: {_message(done)}")
    with durable.os_errors_as_store_error(run):
        durable.replace(run / layout.SIGNATURE, done.stdout.encode())


def verify(run: Path, allowed: Path, identity: str | None = None) -> tuple[str, str]:
    """Return who signed the seal, and why the signature is not valid ("" if it is).

    `identity`: who must have signed it; None: any signer that `allowed` names. Raises UsageError if there is no such
    file, SignatureError if ssh-keygen is not installed.
    """
    if not allowed.is_file():
        raise UsageError(f"{allowed}: this file does not exist; it must list each trusted signer in a line NAME KEY")
    if identity is not None and (not identity.isprintable() or identity.startswith("-")):
        raise UsageError(f"{identity!r} is not an identity in an allowed-signers file")
    if not (run / layout.SIGNATURE).exists():
        return "", "is missing: the run is not signed"
    layout.read_file(run / layout.SIGNATURE, 1 << 20)
    signature = ["-f", str(allowed), "-s", str(run / layout.SIGNATURE)]
    content = layout.read_file(run / layout.SEAL, seal.MAX_BYTES)
    known = _run(["find-principals", *signature], b"").stdout.splitlines()
    if identity is None and not known:
        return "", f"was made with a key that {allowed} does not list"
    reason = ""
    for who in [identity] if identity is not None else known:
        done = _run(["verify", "-n", NAMESPACE, "-I", who, *signature], content)
        if done.returncode == 0:
            key = re.search(r"with (\S+ key \S+)", done.stdout)
            return f"{who} ({key[1]})" if key else who, ""
        reason = _message(done)
    if identity is not None and identity not in known:
        return "", f"is not one of {identity}" + (f" but of {', '.join(known)}" if known else "")
    return "", f"does not match: {reason}"


def _run(words: list[str], data: bytes, patience: float | None = PATIENCE) -> subprocess.CompletedProcess[str]:
    try:
        if patience is None:  # in the user's own session: only there can it prompt at the terminal
            done = subprocess.run([TOOL, "-Y", *words], input=data, capture_output=True, check=False)
            texts = (part.decode("utf-8", "replace") for part in (done.stdout, done.stderr))
            return subprocess.CompletedProcess(words, done.returncode, *texts)
        return bounded.run([TOOL, "-Y", *words], timeout=patience, data=data)
    except FileNotFoundError as error:
        raise SignatureError(f"{TOOL} is not installed: install openssh-client (openssh-clients, openssh)") from error
    except OSError as error:
        raise SignatureError(f"{TOOL} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise SignatureError(f"{TOOL} does not answer") from error


def _message(done: subprocess.CompletedProcess[str]) -> str:
    words = " ".join((done.stderr or done.stdout).split())
    return words[:300] or f"status {done.returncode}"
