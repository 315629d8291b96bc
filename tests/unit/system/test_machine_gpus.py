"""GPUs are read from the driver's tool and files and restricted by batch systems; text without a GPU is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.system.machine import Gpu, gpu_links, gpus

SMI = """\
GPU-8a3f21c0-1111-2222-3333-444455556666, 9.0, 143771, NVIDIA H200
GPU-9b4f21c0-1111-2222-3333-444455556666, 8.0, 81920, NVIDIA A100-SXM4-80GB
"""
H200, A100 = Gpu("NVIDIA H200", "9.0", 143771 << 20), Gpu("NVIDIA A100-SXM4-80GB", "8.0", 81920 << 20)
INFORMATION = """\
Model: \t\t NVIDIA A40
IRQ:   \t\t 219
GPU UUID: \t GPU-1c4f21c0-1111-2222-3333-444455556666
Bus Location: \t 0000:17:00.0
"""


def found(root: Path, output: str, **environment: str) -> tuple[Gpu, ...]:
    return gpus.discover(root, environment, lambda words: output)


def test_the_tool_tells_name_capability_and_memory(tmp_path: Path) -> None:
    assert found(tmp_path, SMI) == (H200, A100)


@pytest.mark.parametrize(
    "output",
    ["", "No devices were found\n", "NVIDIA-SMI has failed because it couldn't communicate", "GPU-1, 9.0, 3,\n"],
)
def test_what_tells_of_no_gpu_is_none(tmp_path: Path, output: str) -> None:
    assert found(tmp_path, output) == ()


def test_a_gpu_that_does_not_tell_all_is_still_one(tmp_path: Path) -> None:
    assert found(tmp_path, "GPU-1, [N/A], [N/A], NVIDIA X, 2nd\n") == (Gpu("NVIDIA X, 2nd"),)


def test_without_the_tool_the_driver_s_files_tell(tmp_path: Path) -> None:
    for address in ("0000:17:00.0", "0000:65:00.0"):
        folder = tmp_path / "proc/driver/nvidia/gpus" / address
        folder.mkdir(parents=True)
        (folder / "information").write_text(INFORMATION)
    assert found(tmp_path, "") == (Gpu("NVIDIA A40"), Gpu("NVIDIA A40"))
    assert found(tmp_path, "", CUDA_VISIBLE_DEVICES="1") == (Gpu("NVIDIA A40"),)


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        ("0,1", (H200, A100)),
        ("1", (A100,)),
        ("1,0", (A100, H200)),
        ("GPU-9b4f", (A100,)),
        ("0,7,1", (H200,)),
        ("-1,0", ()),
        ("", ()),
        ("MIG-5ad2", (Gpu("part of NVIDIA H200", "9.0"),)),
    ],
)
def test_a_batch_system_leaves_some(tmp_path: Path, chosen: str, left: tuple[Gpu, ...]) -> None:
    assert found(tmp_path, SMI, CUDA_VISIBLE_DEVICES=chosen) == left


@given(st.text(), st.one_of(st.none(), st.text(alphabet="0123456789,-GPUMI ", max_size=40)))
def test_no_text_raises_or_gives_more_than_it_names(output: str, chosen: str | None) -> None:
    assert len(gpus.visible(gpus.query(output), chosen)) <= gpus.MOST
    assert all(gpu in {one.gpu for one in gpus.query(SMI)} or "part of" in gpu.name
               for gpu in gpus.visible(gpus.query(SMI), chosen))  # fmt: skip


# Tables that owners of such nodes published: of four A100 with a network card, from a report of measurements (Prism,
# 2026); of four AMD GPUs with XGMI, from the user guide of a cluster with Slurm. The third has the form of a node of
# eight in two hives of four, cut to three GPUs.
NVIDIA_FOUR = """\
\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV12\tNV12\tNV12\tSYS\t32-63,96-127\t1\t\tN/A
GPU1\tNV12\t X \tNV12\tNV12\tSYS\t32-63,96-127\t1\t\tN/A
GPU2\tNV12\tNV12\t X \tNV12\tSYS\t32-63,96-127\t1\t\tN/A
GPU3\tNV12\tNV12\tNV12\t X \tSYS\t32-63,96-127\t1\t\tN/A
NIC0\tSYS\tSYS\tSYS\tSYS\t X \t\t\t\t

Legend:

  X    = Self
  NV#  = Connection traversing a bonded set of # NVLinks
"""
AMD_FOUR = """\
======================= ROCm System Management Interface =======================
=========================== Weight between two GPUs ============================
       GPU0         GPU1         GPU2         GPU3
GPU0   0            15           15           15
GPU1   15           0            15           15
GPU2   15           15           0            15
GPU3   15           15           15           0

========================== Link Type between two GPUs ==========================
       GPU0         GPU1         GPU2         GPU3
GPU0   0            XGMI         XGMI         XGMI
GPU1   XGMI         0            XGMI         XGMI
GPU2   XGMI         XGMI         0            XGMI
GPU3   XGMI         XGMI         XGMI         0

================================== Numa Nodes ==================================
GPU 0          : (Topology) Numa Node: 0
============================= End of ROCm SMI Log ==============================
"""
AMD_TWO_HIVES = "=== Link Type between two GPUs ===\n       GPU0         GPU1         GPU2\n" + "\n".join(
    f"GPU{a}   " + "         ".join("0" if a == b else "XGMI" if (a < 2) == (b < 2) else "PCIE" for b in range(3))
    for a in range(3)
)
# A machine of a user's, ROCm's issue 1503: two MI100 without a bridge.
AMD_TWO = "== Link Type between two GPUs ==\nGPU0 GPU1\nGPU0 0 PCIE\nGPU1 PCIE 0\n"
# The last lines of a report on a machine with one GPU.
AMD_ONE = (
    "=== Link Type between two GPUs ===\n       GPU0         \nGPU0   0            \n=== End of ROCm SMI Log ===\n"
)


def test_links_are_told_as_the_drivers_tools_print_them() -> None:
    four = tuple(tuple("X" if a == b else "NV12" for b in range(4)) for a in range(4))
    assert gpu_links.nvidia(NVIDIA_FOUR) == four and gpu_links.format_links(four) == "each pair by NV12"
    assert gpu_links.amd(AMD_FOUR) == tuple(tuple("X" if a == b else "XGMI" for b in range(4)) for a in range(4))
    assert gpu_links.format_links(gpu_links.amd(AMD_TWO_HIVES)) == "2 pairs by PCIE, 1 pairs by XGMI"
    assert gpu_links.amd(AMD_TWO) == (("X", "PCIE"), ("PCIE", "X"))
    assert (
        gpu_links.amd(AMD_ONE) == (("X",),)
        and gpu_links.format_links((("X",),)) == ""
        and gpu_links.format_links(()) == ""
    )


@pytest.mark.parametrize(
    "text",
    [
        NVIDIA_FOUR.replace("GPU2\tNV12\tNV12", "GPU2\tNV12\tSYS"),  # in the other order it is NV12
        NVIDIA_FOUR.replace("GPU1\tNV12\t X ", "GPU1\tNV12\tNV12"),
        NVIDIA_FOUR.replace("NV12", "?"),
        NVIDIA_FOUR[:150],
        "No devices were found\n",
    ],
)
def test_a_table_that_is_damaged_tells_nothing(text: str) -> None:
    assert gpu_links.nvidia(text) == ()


def test_links_are_those_of_the_gpus_that_may_be_used() -> None:
    outputs = {gpu_links.NVIDIA: NVIDIA_FOUR, gpu_links.AMD: AMD_TWO_HIVES}
    query = lambda words: outputs[words]  # noqa: E731
    assert gpus.linked(2, {"CUDA_VISIBLE_DEVICES": "3,0"}, query) == (0, (("X", "NV12"), ("NV12", "X")))
    assert gpus.linked(1, {"CUDA_VISIBLE_DEVICES": "GPU-8a3f"}, query) == (0, ())  # not by number: not reported
    assert gpus.linked(4, {}, query)[1] == gpu_links.nvidia(NVIDIA_FOUR)
    assert gpus.linked(3, {}, query) == (0, ())  # the tools do not agree
    assert gpus.linked(0, {}, query) == (3, gpu_links.amd(AMD_TWO_HIVES))
    assert gpus.linked(0, {"ROCR_VISIBLE_DEVICES": "1,2", "HIP_VISIBLE_DEVICES": "1"}, query) == (1, (("X",),))
    assert gpus.linked(0, {}, lambda words: "") == (0, ())


@given(st.text(alphabet="GPU0123X \tNV\nSYS", max_size=200))
def test_no_table_makes_it_raise(text: str) -> None:
    links = gpu_links.nvidia(text)
    assert all(len(row) == len(links) for row in links) and gpu_links.amd(text) == ()
