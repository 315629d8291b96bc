from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class Firstlight(PythonPackage):
    """Measure what a parallel machine delivers to your code, verify every result, and compare machines."""

    # The source is the branch main of the checkout that contains this recipe. In the checkout:
    #   spack repo add contrib/recipes/spack_repo/firstlight && spack install firstlight
    git = Path(__file__).resolve().parents[6].as_uri()

    license("BSD-3-Clause")

    version("1.0.0", branch="main")

    depends_on("py-hatchling@1.26:", type="build")

    with default_args(type=("build", "run")):
        depends_on("python@3.11:")
        depends_on("py-click@8.1:")
        depends_on("py-msgspec@0.18:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-psutil@5.9:")
        depends_on("py-archspec@0.2.3:")
        depends_on("cmake@3.25:")
        depends_on("ninja@1.11:")
        depends_on("openblas@0.3.27:")  # instead of the wheel scipy-openblas32
        depends_on("py-filelock@3.12:")
        depends_on("py-tree-sitter@0.23:")
        depends_on("py-tree-sitter-c@0.23:")

    def setup_run_environment(self, env):
        env.set("OPENBLAS_ROOT", self.spec["openblas"].prefix)
