"""GPUs: what the driver's tool and its files tell, what a batch system leaves of them, and text that tells nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.machine import Gpu, gpus

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


def found(root: Path, said: str, **environment: str) -> tuple[Gpu, ...]:
    return gpus.discover(root, environment, lambda words: said)


def test_the_tool_tells_name_capability_and_memory(tmp_path: Path) -> None:
    assert found(tmp_path, SMI) == (H200, A100)


@pytest.mark.parametrize(
    "said", ["", "No devices were found\n", "NVIDIA-SMI has failed because it couldn't communicate", "GPU-1, 9.0, 3,\n"]
)
def test_what_tells_of_no_gpu_is_none(tmp_path: Path, said: str) -> None:
    assert found(tmp_path, said) == ()


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
def test_no_text_raises_or_gives_more_than_it_names(said: str, chosen: str | None) -> None:
    assert len(gpus.visible(gpus.query(said), chosen)) <= gpus.MOST
    assert all(gpu in {one.gpu for one in gpus.query(SMI)} or "part of" in gpu.name
               for gpu in gpus.visible(gpus.query(SMI), chosen))  # fmt: skip
