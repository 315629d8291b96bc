"""Targets of storage: which directories they are, what the system reports on them, and what a plan does with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from firstlight.core.errors import UsageError
from firstlight.system.machine import storage


def test_a_user_names_directories(tmp_path: Path) -> None:
    assert storage.parse([f"fast={tmp_path}"]) == {"fast": tmp_path}
    for wrong in ("fast", "Fast=/tmp", "=/tmp", "a/b=/tmp", f"fast={tmp_path}/none", "fast=/proc/self/status"):
        with pytest.raises(UsageError):
            storage.parse([wrong])


def test_each_file_system_is_one_target_and_what_a_user_names_always_is(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "SCRATCH": "/nonexistent", "WORK": "relative"}
    found = storage.locate(tmp_path / "not" / "yet", {}, environment)
    assert found["results"] == tmp_path
    assert not {"tmpdir", "home", "scratch", "work"} & found.keys()
    devices = [folder.stat().st_dev for folder in found.values()]
    assert len(set(devices)) == len(devices)
    named = storage.locate(tmp_path, {"mine": tmp_path, "also": tmp_path}, environment)
    assert {"mine", "also"} <= named.keys()
    assert "results" not in named


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_no_target(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written"):
        storage.parse([f"fast={tmp_path}"])


MOUNTS = """\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
22 21 0:30 / /home rw - nfs4 server.example:/export/home/me rw,vers=4.2,addr=10.0.0.1,clientaddr=10.0.0.2,rsize=1048576
23 21 0:31 / /my\\040scratch rw,noatime - lustre 10.0.0.9@tcp:/fs rw,flock
24 21 0:40 / /over rw - overlay overlay rw,lowerdir=/a/b,upperdir=/c
"""


def test_mounts_without_hosts_and_paths(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS)
    mounts = storage._mounts(tmp_path)
    assert [m.type for m in mounts] == ["ext4", "nfs4", "lustre", "overlay"]
    assert mounts[1].options == "rw,vers=4.2,rsize=1048576"
    assert mounts[2].point == "/my scratch"
    assert mounts[3].options == "rw"
    home = storage._mount(mounts, Path("/home/me/results"))
    assert home is not None and home.type == "nfs4"


def test_what_the_system_reports(tmp_path: Path) -> None:
    (found,) = storage.describe({"here": tmp_path})
    assert found.name == "here"
    assert found.type
    assert found.free is not None and found.free > 0
    assert str(tmp_path) not in str(found)
    assert storage.describe({"gone": tmp_path / "none"}) == ()


def test_a_block_device_and_whether_it_rotates(tmp_path: Path) -> None:
    disk = tmp_path / "sys/devices/sda"
    (disk / "sda1").mkdir(parents=True)
    (disk / "queue").mkdir()
    (disk / "queue/rotational").write_text("1\n")
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block/8:1").symlink_to(disk / "sda1")
    assert storage._block_device(tmp_path, "8:1") == ("sda1", True)
    assert storage._block_device(tmp_path, "0:30") == ("", None)


def test_new_folders_differ(tmp_path: Path) -> None:
    assert len({storage.new_folder(tmp_path) for _ in range(50)}) == 50
