"""`fl` installs the right packages from the right places, and does not trust indexes, the current folder or the
caller's variables.
"""

from __future__ import annotations

import os
import subprocess

import pytest


def test_packages_come_from_where_setup_says(checkout, tmp_path):
    wheels = tmp_path / "my wheels"
    wheels.mkdir()
    assert checkout.run("setup", "dot", "--offline", "--wheelhouse", str(wheels))[1].startswith(
        f"<setup><dot><--offline><--wheelhouse><{wheels}>"
    )
    installs = [line for line in checkout.log.read_text().splitlines() if line.startswith("-m pip install")]
    assert len(installs) == 1 and f" --no-index --find-links {wheels} -r " in installs[0]
    assert checkout.run("setup", f"--wheelhouse={tmp_path}/none")[0] == 2
    assert checkout.run("setup", "--wheelhouse")[0] == 0  # the program reports that error
    assert "no folder" in checkout.run("setup", "--offline", "--wheelhouse", "none")[2]


def test_offline_nothing_is_installed_by_other_calls(checkout):
    code, _, err = checkout.run("list", FIRSTLIGHT_OFFLINE="1")
    assert code == 3 and "./fl setup --offline --wheelhouse DIR" in err and len(err.splitlines()) == 1
    assert checkout.run("list")[0] == 0 and checkout.run("list", FIRSTLIGHT_OFFLINE="1")[0] == 0
    (checkout.cache / "offline").write_text("")
    with (checkout.root / "pyproject.toml").open("a") as file:
        file.write("# another dependency\n")
    before = checkout.calls("-m pip install")
    code, _, err = checkout.run("list")
    assert code == 3 and "offline" in err and checkout.calls("-m pip install") == before
    assert checkout.run("setup")[0] == 0 and checkout.calls("-m pip install") == before + 1


@pytest.mark.parametrize("works", [True, False])
def test_uv_installs_where_it_is_there_and_works(checkout, tmp_path, works):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").write_text(
        f"#!/bin/sh\necho uv: \"$*\" >>'{checkout.log}'\necho no index; exit {int(not works)}\n"
    )
    (tmp_path / "bin" / "uv").chmod(0o755)
    code, _, err = checkout.run("list", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    assert code == 0 and checkout.calls("uv: pip install --python ") == 1
    assert checkout.calls("-m pip install") == (0 if works else 1)
    assert ("uv does not install it (no index); trying pip" in err) is not works


def test_parts_of_cmake_that_no_build_uses_are_removed(checkout, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").write_text("""#!/bin/sh
data=${4%/bin/python}/lib/python3.11/site-packages/cmake/data
mkdir -p "$data/bin" "$data/share/cmake-4.4/Help/manual" "$data/share/cmake-4.4/Modules"
touch "$data/bin/cmake" "$data/bin/ctest" "$data/bin/cpack"
""")
    (tmp_path / "bin" / "uv").chmod(0o755)
    assert checkout.run("list", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")[0] == 0
    (data,) = checkout.cache.glob("venv/lib/python3*/site-packages/cmake/data")
    assert [f.name for f in data.glob("bin/*")] == ["cmake"]
    assert [f.name for f in data.glob("share/cmake-4.4/*")] == ["Modules"]


@pytest.mark.parametrize("file", ["uv.toml", "pyproject.toml", "../uv.toml", "../pyproject.toml", "../../uv.toml"])
def test_uv_finds_no_configuration_of_the_current_folder_nor_above(checkout, tmp_path, file):
    """The stand-in for uv looks for it as uv does: in its folder, then in the folders above."""
    here = tmp_path / "a" / "b"
    here.mkdir(parents=True)
    (here / file).write_text('[[index]]\nurl = "file:///evil"\ndefault = true\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").write_text(f"""#!/bin/sh
printf '%s\n' "$UV_TARGET$UV_INDEX" >>'{checkout.log}'
while [ ! -e uv.toml ] && [ ! -e pyproject.toml ] && [ "$(pwd)" != / ]; do cd ..; done
[ "$(pwd)" = / ] || echo "configured by $(pwd)" >>'{checkout.log}'
""")
    (tmp_path / "bin" / "uv").chmod(0o755)
    more = {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "UV_TARGET": "target",
        "UV_INDEX": "file:///ours",
        "CLEANED": "1",
    }
    done = subprocess.run(
        [checkout.root / "fl", "list"], cwd=here, env=checkout.environment(**more), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert checkout.calls("file:///ours") == 1 and not checkout.calls("target") and not checkout.calls("configured by")


@pytest.mark.parametrize("name", ["PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIREMENT", "PYTHONHOME"])
def test_pip_installs_where_it_should_whatever_the_caller_has_set(checkout, name):
    code, _, err = checkout.run("list", **{name: "/caller"}, PIP_FIND_LINKS="/wheels", SHOWN=name, CLEANED="1")
    assert code == 0, err
    assert checkout.calls("pip sees <> and </wheels>") == 1
    assert checkout.calls("-m pip install") == 1 and "--no-user" in checkout.log.read_text()


def test_what_cannot_be_imported_is_not_stamped_as_ready(checkout):
    """For example, a configuration of pip installed it elsewhere."""
    code, _, err = checkout.run("list", LACKS="click")
    assert code == 3 and err.splitlines()[-2:] == [
        "fl: ModuleNotFoundError: No module named 'click'",
        f"fl: what was installed cannot be used in {checkout.venv}; `pip config list` shows a target, prefix or root "
        "that puts packages elsewhere",
    ]
    assert checkout.nothing_half_made() and checkout.run("list")[0] == 0


def test_the_interpreter_is_not_chosen_by_the_current_folder(checkout, tmp_path):
    """Shims of pyenv or asdf choose the interpreter from files of the folder in which they start."""
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "python3"
    shim.write_text(
        f"#!/bin/sh\n[ -e .python-version ] && echo shim >>'{checkout.log}'\nexec '{checkout.python}' \"$@\"\n"
    )
    shim.chmod(0o755)
    here = tmp_path / "hostile"
    here.mkdir()
    (here / ".python-version").write_text("evil\n")
    world = checkout.environment(PATH=f"{tmp_path}/bin:{os.environ['PATH']}", ITSELF=str(checkout.python))
    del world["FIRSTLIGHT_PYTHON"]
    done = subprocess.run([checkout.root / "fl", "list"], cwd=here, env=world, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not checkout.calls("shim")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("place", ["", "venv", "programs", "link"])
def test_a_cache_of_another_user_is_refused(checkout, place):
    assert checkout.run("list")[0] == 0
    if place == "link":
        (checkout.cache / place).symlink_to("/tmp")
    (checkout.cache / "programs").mkdir(exist_ok=True)
    owned = checkout.cache / place
    os.chown(owned, 12345, -1, follow_symlinks=False)
    code, out, err = checkout.run("list")
    assert code == 3 and out == ""
    assert err == (
        f"fl: {str(owned).rstrip('/')} belongs to another user, whose programs would run here; "
        "set FIRSTLIGHT_CACHE to a folder of your own\n"
    )
    os.chown(checkout.root, 12345, -1)  # the sources of that user are run anyway
    assert checkout.run("list")[0] == 0


def listed_from_a_cache_mounted(checkout, options, **world):
    """Return `./fl list` with a file system of memory, mounted with these options, as its cache."""
    mounted = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o {options} none "$0" && exec "$@"']
    if subprocess.run([*mounted[:2], "true"], capture_output=True).returncode != 0:
        pytest.skip("mounting a file system needs root")
    checkout.cache.mkdir()
    words = [*mounted, checkout.cache, checkout.root / "fl", "list"]
    return subprocess.run(words, env=checkout.environment(**world), capture_output=True, text=True)


def test_a_cache_without_room_is_one_line(checkout):
    """Python's modules for environments then fail with errors of all kinds."""
    done = listed_from_a_cache_mounted(checkout, "size=2m", NO_VENV="1")
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == (
        f"fl: cannot make a Python environment: {checkout.cache} has room for 1 MB; free 300 MB or set FIRSTLIGHT_CACHE"
    )


def test_a_cache_in_which_no_program_can_be_started_is_one_line(checkout):
    """This also applies to a cache that was set up before."""
    done = listed_from_a_cache_mounted(checkout, "noexec,size=1m")
    assert done.returncode == 3
    assert done.stderr == (
        f"fl: programs in {checkout.cache} cannot be started (a file system mounted noexec?); "
        "set FIRSTLIGHT_CACHE to a folder where they can\n"
    )
