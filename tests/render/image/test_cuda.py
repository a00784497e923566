"""What can be said about GPUs without one: the code they get rounds like CPUs do, and errors are clear."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from spurgen.errors import SpurgenError
from spurgen.render.image import Options, draw
from spurgen.render.image.sdf.blur import blur_colours, blur_masks, blur_steps
from tests.render.image.rows import everything, make_rows


def gpu() -> bool:
    try:
        import torch
        from numba import cuda

        return bool(torch.cuda.is_available() and cuda.is_available())
    except Exception:
        return False


def test_every_operation_of_the_gpu_code_is_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba.cuda.cudadrv.nvvm", reason="numba-cuda is not installed", exc_type=ImportError)
    from spurgen.render.image.sdf import cuda, rounding

    dispatcher = pytest.importorskip("numba.cuda.dispatcher")
    monkeypatch.setattr(
        dispatcher, "get_current_device", lambda: types.SimpleNamespace(compute_capability=(9, 0)), raising=False
    )
    try:
        code = cuda.ptx((9, 0))
    except Exception as error:
        pytest.skip(f"no NVVM or NVRTC to compile with: {error}")
    assert rounding.contractions(code) == []
    assert "mul.rn.f32" in code and "sqrt.rn.f32" in code and "div.rn.f32" in code


def test_unrounded_operations_are_found_and_replaced() -> None:
    rounding = pytest.importorskip("spurgen.render.image.sdf.rounding", exc_type=ImportError)
    loose = b"mul.f32 %f1;\nadd.ftz.f32 %f2;\nadd.s32 %r1;\nadd.rn.f32 %f3;\nsub.f64 %d1;"
    tight = b"mul.rn.f32 %f1;\nadd.rn.ftz.f32 %f2;\nadd.s32 %r1;\nadd.rn.f32 %f3;\nsub.rn.f64 %d1;"
    assert rounding.rounded(loose) == tight
    text = "fma.rn.f32 a;\nmul.f32 b;\nmul.rn.f32 c;\nsqrt.approx.f32 d;\ndiv.rn.f32 e;\nmad.lo.s32 f;\nmin.f32 g;"
    assert rounding.contractions(text) == ["fma.rn.f32 a;", "mul.f32 b;", "sqrt.approx.f32 d;"]


@pytest.mark.skipif(gpu(), reason="there is a GPU")
def test_without_a_gpu_there_is_one_sentence() -> None:
    with pytest.raises(SpurgenError, match=r"no GPU to draw on|needs an optional dependency") as raised:
        draw(make_rows(1), device="cuda")
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(not gpu(), reason="needs a GPU")
@pytest.mark.parametrize("size", [33, 64])
def test_gpu_and_cpu_agree(size: int) -> None:
    rows, options = everything(64, seed=1), Options(size_px=size)
    drawn, wanted = draw(rows, options, device="cuda", truth=True), draw(rows, options, truth=True)
    for there, here in zip(drawn, wanted, strict=True):
        assert np.array_equal(there.cpu().numpy(), here)


@pytest.mark.parametrize("size", [32, 64, 100, 224])
def test_blur_is_the_passes_it_names(size: int) -> None:
    """Both drivers follow blur_steps: (a + 2 b + c + 2) >> 2 along rows, then columns, edges repeated."""
    rng = np.random.default_rng(0)
    plane = rng.integers(0, 256, (size, size, 3)).astype(np.uint8)
    wanted = plane.astype(int)
    for step in blur_steps(size):
        for axis in (1, 0):
            here = np.arange(size)
            a = wanted.take(np.maximum(here - step, 0), axis)
            c = wanted.take(np.minimum(here + step, size - 1), axis)
            wanted = (a + 2 * wanted + c + 2) >> 2
    got = plane.reshape(-1).copy()
    blur_colours(got, size, 3)
    assert np.array_equal(got.reshape(size, size, 3), wanted)


def test_blurred_masks_keep_what_none_and_all_mean() -> None:
    mask: Any = np.zeros((64, 64), np.uint8)
    mask[20:40, 20:40] = 255
    soft = mask.reshape(-1).copy()
    blur_masks(soft, 64, 1)
    soft = soft.reshape(64, 64)
    assert (soft[22:38, 22:38] == 255).all() and (soft[20:40, 20] < 255).all()
    assert (soft[18:42, 30] > 0).all() and not soft[:17].any()
