"""Compilers of vendors: recognised by the version text of real ones; their flags; unknown compilers.

None of them is here: a script prints the compiler's text, refuses the same flags, and lets g++ do the rest.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import synthetic_machine
from firstlight.execute.build.recipe import harness_flags
from firstlight.toolchain import Absent, Toolchain, vendors
from firstlight.toolchain.compilers import clang, gcc
from firstlight.toolchain.compilers import vendors as of_vendors
from firstlight.toolchain.compiling import toolchains_of, version_in
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory

GXX = shutil.which("g++")

# As spack's tests record them (lib/spack/spack/test/compilers/detection.py), and where another source is named.
VERSION_TEXTS = {
    "intel": [
        ("Intel(R) oneAPI DPC++ Compiler 2021.1.2 (2020.10.0.1214)\nTarget: x86_64-unknown-linux-gnu\n", "2021.1.2"),
        ("Intel(R) oneAPI DPC++/C++ Compiler 2021.4.0 (2021.4.0.20210924)\nThread model: posix\n", "2021.4.0"),
        # an installation at a cloud, 2024, with a configuration file of its own
        ("Intel(R) oneAPI DPC++/C++ Compiler 2024.1.0 (2024.1.0.20240308)\nInstalledDir: /home/cloud\n", "2024.1.0"),
    ],
    "nvhpc": [
        ("nvc++ 20.9-0 LLVM 64-bit target on x86-64 Linux -tp haswell\nNVIDIA Compilers and Tools\n", "20.9"),
        ("nvc++ 20.9-0 linuxpower target on Linuxpower\nNVIDIA Compilers and Tools\n", "20.9"),
        ("\nnvc++ 20.9-0 linuxarm64 target on aarch64 Linux\nNVIDIA Compilers and Tools\n", "20.9"),
    ],
    "arm": [
        (
            "Arm C/C++/Fortran Compiler version 19.3.1 (build number 75) (based on LLVM 7.0.2)\n"
            "Target: aarch64--linux-gnu\n",
            "19.3.1",
        ),
    ],
    "cray": [
        ("Cray clang Version 8.4.6  Mon Apr 15, 2019  12:13:45\n", "8.4.6"),
        # LUMI's training notes, and CSCS's page of the Cray environment in a container on Alps
        ("Cray clang version 13.0.0  (24b043d62639ddb4320c86db0b131600fdbc6ec6)\nTarget: x86_64\n", "13.0.0"),
        ("Cray clang version 18.0.0  (0e4696aa65fa9549bd5e19c216678cc98185b0f7)\nTarget: aarch64\n", "18.0.0"),
        # Okeanos (ICM), an older one
        ("Cray clang version 9.0.2 (2a3a7003aaa5b93e2070bde59a5ee6b9682b67d7) (based on LLVM 9.0.0svn)\n", "9.0.2"),
    ],
    "fujitsu": [
        ("FCC (FCC) 4.0.0a 20190314\nsimulating gcc version 6.1\nCopyright FUJITSU LIMITED 2019", "4.0.0"),
        # what programs of Fugaku's compiler have in their debug information
        ("clang: Fujitsu C/C++ Compiler 4.9.0 (Dec  2 2022 16:06:23) (based on LLVM 7.1.0)\n", "4.9.0"),
    ],
}
OTHERS = [  # which no vendor's line may take for its own
    "g++ (GCC) 8.3.0 20190222 (Cray Inc.)\n",
    "g++ (Debian 12.2.0-14+deb12u1) 12.2.0\n",
    "clang version 8.0.0-3~ubuntu18.04.1 (tags/RELEASE_800/final)\nTarget: x86_64-pc-linux-gnu\n",
    "Debian clang version 14.0.6\n",
    "Apple clang version 11.0.0 (clang-1100.0.33.8)\n",
    "icpc (ICC) 12.1.5 20120612\n",
    "Cray C++ : Version 8.4.6  Mon Apr 15, 2019  12:13:45\n",  # the classic one does not support C++20
    "IBM XL C/C++ for Linux, V11.1 (5724-X14)\nVersion: 11.01.0000.0000\n",
    "",
]
RECORDED = [(family, text, version) for family, some in VERSION_TEXTS.items() for text, version in some]


@pytest.mark.parametrize(("family", "text", "version"), RECORDED)
def test_vendors_are_told_by_what_they_say(family: str, text: str, version: str) -> None:
    assert vendors.parse_version(text) == (family, version)


@pytest.mark.parametrize("text", OTHERS)
def test_others_are_not(text: str) -> None:
    assert vendors.parse_version(text) is None


def test_amd_is_told_whether_aocc_or_rocm() -> None:
    """The form of both is that of LLVM's own driver with AMD in front; no whole output was found to be cited."""
    assert vendors.parse_version("AMD clang version 16.0.3 (CLANG: AOCC_4.1.0-Build#270 2023_07_10)\n") == (
        "amd",
        "16.0.3",
    )


def test_the_versions_of_fortran_compilers_of_vendors() -> None:
    texts = ["ifx (IFX) 2023.1.0 20230320\n", "nvfortran 20.9-0 LLVM 64-bit target on x86-64 Linux -tp haswell\n"]
    assert list(map(version_in, texts)) == ["2023.1.0", "20.9"]


def test_every_vendor_has_all_flag_sets_and_base_keeps_arithmetic_as_it_is_written() -> None:
    for family, vendor in vendors.every().items():
        sets = vendors.flags(family)
        assert list(sets) == ["base", "native", "fast"] and all(sets.values()), family
        assert sets["base"] == ((*vendor.always, "-O2", *vendor.strict),)
        assert all(spelling[: len(vendor.always)] == vendor.always for some in sets.values() for spelling in some)
        assert vendors.strict(family) == (*vendor.always, *vendor.strict)
    assert list(vendors.flags(vendors.OTHER)) == ["base"] and vendors.strict("gcc") == ()
    assert list(vendors.flags("gcc")) == ["base", "native", "fast"]


def script(place: Path, output: str, knows: tuple[str, ...], refuses: tuple[str, ...]) -> None:
    """Write a compiler with this version text that accepts its own flags (`knows`) and refuses some; g++ compiles."""
    place.parent.mkdir(parents=True, exist_ok=True)
    known, refused = "|".join(knows) or "none", "|".join(refuses) or "none"
    place.write_text(
        "#!/bin/bash\n"
        f"[ \"$1\" = --version ] && {{ printf '%s\\n' '{output.strip()}'; exit 0; }}\n"
        "words=()\n"
        'for word in "$@"; do\n'
        f'    case "$word" in {refused}) echo "error: unknown option $word" >&2; exit 1;; -dM) exit 1;;\n'
        f'    {known});; *) words+=("$word");; esac\n'
        "done\n"
        f'PATH=/usr/bin:/bin exec "{GXX}" "${{words[@]}}"\n'
    )
    place.chmod(0o755)


def look(folder: Path, **environ: str) -> tuple[dict[str, Toolchain], list[Absent]]:
    """Return the toolchains of all probes of compilers, with the content of `folder` on the path."""
    world = {"PATH": f"{folder / 'bin'}", **environ}
    host = Host(synthetic_machine.machine(), folder, world, Memory(folder / "memory.json"))
    found = [probe(host) for probe in (clang.probe, gcc.probe, of_vendors.probe)]
    some = [toolchains_of(host, compiler) for each in found for compiler in each.items]
    absent = [gap for each in found for gap in each.absent] + [gap for _, gaps in some for gap in gaps]
    return {t.name: t for chains, _ in some for t in chains}, absent


@pytest.mark.skipif(GXX is None, reason="no g++ here")
def test_a_compiler_of_a_vendor_gets_its_flags_and_keeps_judges_strict(tmp_path: Path) -> None:
    words = ("-fp-model=precise", "-fp-model=fast", "-qopenmp")
    script(tmp_path / "bin" / "icpx", VERSION_TEXTS["intel"][2][0], words, ("-xHost",))
    chains, _ = look(tmp_path)
    assert list(chains) == ["intel-base", "intel-native", "intel-fast"]
    assert chains["intel-base"].flags == ("-O2", "-fp-model=precise") and chains["intel-base"].version == "2024.1.0"
    assert chains["intel-native"].flags == ("-O3", "-march=native", "-fp-model=precise")  # -xHost was refused
    assert chains["intel-fast"].flags == ("-O3", "-march=native", "-fp-model=fast")
    assert harness_flags(chains["intel-fast"]) == "-O2 -fp-model=precise"


@pytest.mark.skipif(GXX is None, reason="no g++ here")
def test_one_that_nobody_knows_gets_base_flags_where_the_user_names_it(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "xCC", "Example C++ 7.1.2 for nothing\n", (), ())
    assert look(tmp_path)[0] == {}
    (chain,) = look(tmp_path, CXX="xCC")[0].values()
    assert (chain.name, chain.version, chain.flags) == ("other-base", "7.1.2", ("-O2",))
    assert harness_flags(chain) == "-O2"


@pytest.mark.skipif(GXX is None, reason="no g++ here")
def test_a_vendors_compiler_called_clang_is_not_taken_for_llvms(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "clang++", VERSION_TEXTS["cray"][1][0], (), ())
    assert {t.compiler for t in look(tmp_path)[0].values()} == {"cray"}


def test_one_that_knows_no_cxx20_is_told_with_its_reason(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "FCC", VERSION_TEXTS["fujitsu"][1][0], ("-Nclang",), ("-std=c\\+\\+20",))
    chains, absent = look(tmp_path)
    (gap,) = (a for a in absent if a.what.startswith("Fujitsu"))
    assert gap.what == "Fujitsu 4.9.0" and "error: unknown option -std=c++20" in gap.why and chains == {}
