"""The recipes of package managers and images: each agrees with pyproject.toml."""

from __future__ import annotations

import ast
import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from firstlight import ROOT, __version__

RECIPES = ROOT / "contrib/recipes"
EASYCONFIG = RECIPES / f"firstlight-{__version__}-GCC-14.3.0.eb"
SPACK = RECIPES / "spack_repo/firstlight/packages"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HOOK = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["dependencies"]
"""The packages that must be there when a wheel is built, besides the build system."""
IMAGES = {"debian:13-slim": (3, 13)}
"""The version of Python of each base image."""
BUNDLE = {
    "Python-bundle-PyPI": {"2025.07": {"click": "8.2.1", "filelock": "3.18.0", "jinja2": "3.1.6", "psutil": "7.0.0"}}
}
"""The packages that firstlight requires in each version of EasyBuild's bundle."""
OPENBLAS = "openblas"
"""Package managers have OpenBLAS itself, so their recipes require it instead of its wheel."""


class Facts(NamedTuple):
    """List a recipe's statements about firstlight. `requires` contains the oldest version of each package."""

    name: str
    version: str
    summary: str
    licence: str
    requires: dict[str, str]


def minima(requirements: list[str]) -> dict[str, str]:
    """Return the oldest version of each package. Each requirement must be a name and such a version."""
    found = {}
    for text in requirements:
        match = re.fullmatch(r"([\w-]+) ?>=([\d.]+)", text)
        assert match is not None, text
        found[match[1]] = match[2]
    return found


def project(names: dict[str, str], prefix: str = "") -> Facts:
    """Return the facts of pyproject.toml, with the names that its packages have in a recipe."""
    about = PROJECT["project"]
    packages = minima([*about["dependencies"], *PROJECT["build-system"]["requires"]])
    requires = {names.get(name, prefix + name): oldest for name, oldest in packages.items()}
    requires["python"] = about["requires-python"].removeprefix(">=")
    return Facts(about["name"], __version__, about["description"], about["license"], requires)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def calls(path: Path, name: str) -> Iterator[list[str]]:
    """Yield the plain arguments of each call of a directive in a recipe of Spack."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield [ast.literal_eval(word) for word in node.args]


def test_the_conda_recipe_agrees() -> None:
    text = (RECIPES / "recipe.yaml").read_text()

    def entry(name: str) -> str:
        (value,) = re.findall(rf'^  {name}: "?(.*?)"?$', text, re.M)
        return value

    host, run = (re.findall(r"^    - (.+)$", part, re.M) for part in text.partition("  host:")[2].split("  run:"))
    assert host[0] == run[0] and host[1] == "pip"
    stated = Facts(*map(entry, ("name", "version", "summary", "license")), minima([*host[2:], *run]))
    assert stated == project({"scipy-openblas32": OPENBLAS, "tree-sitter": "tree_sitter"})
    assert minima(HOOK).items() <= minima(host[2:]).items()


def test_the_spack_recipe_agrees() -> None:
    path = SPACK / "firstlight/package.py"
    (recipe,) = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef))
    ((version,),), ((licence,),) = calls(path, "version"), calls(path, "license")
    dependencies = [name.removesuffix(":").replace("@", ">=") for (name,) in calls(path, "depends_on")]
    stated = Facts(recipe.name.lower(), version, ast.get_docstring(recipe) or "", licence, minima(dependencies))
    assert 'with default_args(type=("build", "run")):' in path.read_text(), "HOOK is among them"
    same = {name: name for name in ("cmake", "ninja")}
    assert stated == project({"scipy-openblas32": OPENBLAS} | same, prefix="py-")
    assert f"parents[{len(path.relative_to(ROOT).parts) - 1}]" in path.read_text(), "the checkout is its source"


def test_the_recipe_of_a_package_that_spack_lacks_is_new_enough() -> None:
    ((version,),) = calls(SPACK / "py_msgspec/package.py", "version")
    assert numbers(version) >= numbers(minima(PROJECT["project"]["dependencies"])["msgspec"])


def test_the_easyconfig_agrees() -> None:
    stated = runpy.run_path(str(EASYCONFIG))
    packages = dict(stated["builddependencies"] + stated["dependencies"] + [entry[:2] for entry in stated["exts_list"]])
    for bundle, versions in BUNDLE.items():
        packages |= versions[packages[bundle]]
    packages = {name.lower(): version for name, version in packages.items()}
    assert packages.pop(stated["name"]) == __version__
    expected = project({"scipy-openblas32": OPENBLAS})
    assert (stated["name"], stated["version"], stated["description"]) == expected[:3]
    assert packages.keys() == expected.requires.keys() | {name.lower() for name in BUNDLE}
    old = {name: oldest for name, oldest in expected.requires.items() if numbers(packages[name]) < numbers(oldest)}
    assert not old
    assert EASYCONFIG.name in EASYCONFIG.read_text().splitlines()[0]


def test_both_images_install_the_wheel_on_the_same_system() -> None:
    """Pip reads versions and requirements in the wheel, so an image has none of its own."""
    docker, apptainer = ((RECIPES / name).read_text() for name in ("Dockerfile", "apptainer.def"))
    (base,) = re.findall(r"^From: (\S+)$", apptainer, re.M)
    assert f"\nFROM docker.io/library/{base}\n" in docker
    assert IMAGES[base] >= numbers(PROJECT["project"]["requires-python"].removeprefix(">="))
    name, commands = PROJECT["project"]["name"], PROJECT["project"]["scripts"]
    for shared in (r"apt-get install .*?(?=\s*\\?$)", r"python3 -m venv \S+", r"\S+/pip install .*?(?=\s*\\?$)"):
        (line,) = re.findall(shared, docker, re.M)
        assert re.findall(shared, apptainer, re.M) == [line]
    assert line.endswith(f"/{name}-*.whl") and __version__ not in docker + apptainer
    assert (
        re.findall(r'^ENTRYPOINT \["(\w+)"\]$', docker, re.M)
        == re.findall(r"^ +exec (\w+) ", apptainer, re.M)
        == [name]
    )
    assert name in commands
