"""Drawing on a GPU: the functions of the scene, compiled for CUDA threads, into torch tensors."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from spurgen.errors import SpurgenError, missing_extra
from spurgen.render.image.picture import Picture
from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.blur import blur_steps
from spurgen.render.image.sdf.columns import Traits, cut
from spurgen.render.image.sdf.params import pack

SLICE_ROWS = 2048  # of more rows the first are drawn while the next are packed
REGISTERS = 64  # of a thread: two blocks find room on a multiprocessor, which beats what spills


def draw(traits: Traits, size: int, device: str, truth: bool) -> Any:
    """Pictures as a uint8 tensor on the GPU, or a `Picture` of tensors."""
    torch = _torch(device)
    from numba import cuda

    target = torch.device(device)
    index = target.index if target.index is not None else torch.cuda.current_device()
    n = len(traits["pose_yaw_degrees"])
    known = (n, size, size) if truth else (1, 1, 1)
    with torch.cuda.device(index), cuda.gpus[index]:
        new = {"device": torch.device("cuda", index)}
        out = torch.empty((n, size, size, 3), dtype=torch.uint8, **new)
        masks, seconds = (torch.empty((*known, 1), dtype=torch.uint8, **new) for _ in range(2))
        depths = torch.empty(known, dtype=torch.float32, **new)
        stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
        for start in range(0, n, SLICE_ROWS):
            rows = slice(start, start + SLICE_ROWS)
            parameters, blurred = _packed(torch, cut(traits, rows), new)
            own = rows if truth else slice(0, 1)
            tensors = (parameters, out[rows], masks[own], seconds[own], depths[own])
            _launch(torch, stream, [cuda.as_cuda_array(t, sync=False) for t in tensors], truth, blurred)
    if not truth:
        return out
    mask, second = masks[..., 0], seconds[..., 0]
    return Picture(out, mask, second, _boxes(torch, mask), _boxes(torch, second), depths)


def _packed(torch: Any, traits: Traits, new: Any) -> tuple[Any, bool]:
    """The parameters on the GPU, and whether any picture is to be blurred.

    Nothing waits for the GPU here: a copy from page-locked memory, which torch keeps until it is read, is only ordered.
    """
    from spurgen.render.image.sdf.kernels import BLUR

    here = torch.empty((len(traits["pose_yaw_degrees"]), at.PARAMETERS), dtype=torch.float32, pin_memory=True)
    parameters = pack(traits, here.numpy())
    return here.to(**new, non_blocking=True), bool((parameters[:, at.SENSOR] == BLUR).any())


def _launch(torch: Any, stream: Any, arrays: list[Any], truth: bool, blurred: bool) -> None:
    """Have the pictures of some rows drawn."""
    from numba import cuda

    from spurgen.render.image.sdf.kernels import BLOCK

    n, size = arrays[1].shape[:2]
    draw_pixel, blur_pixel = compiled(torch.cuda.get_device_capability())
    grid = (n, -(-size // BLOCK[0]) * -(-size // BLOCK[1]))
    draw_pixel[grid, BLOCK, stream](*arrays, truth)
    if not blurred:
        return
    blurred_arrays = zip(arrays[1:4], (False, True, True), strict=True) if truth else [(arrays[1], False)]
    for array, strict in blurred_arrays:
        spare = torch.empty(array.shape, dtype=torch.uint8, device="cuda")
        other = cuda.as_cuda_array(spare, sync=False)
        for step in blur_steps(size):
            blur_pixel[grid, BLOCK, stream](arrays[0], array, other, step, False, strict)
            blur_pixel[grid, BLOCK, stream](arrays[0], other, array, step, True, strict)


def _torch(device: str) -> Any:
    """torch, once it is sure that it and numba-cuda can reach a GPU."""
    for gone, now in (("row_stack", np.vstack), ("in1d", np.isin)):  # numba-cuda 0.30 still asks NumPy for them
        if not hasattr(np, gone):
            setattr(np, gone, now)
    try:
        import torch
        from numba import cuda
        from numba.cuda.cudadrv import nvvm  # noqa: F401  numba's own stub, without numba-cuda, lacks what is needed
    except ImportError as error:
        raise missing_extra("drawing on a GPU", "gpu") from error
    if not torch.cuda.is_available() or not cuda.is_available():
        raise SpurgenError(f"there is no GPU to draw on ({device!r}); draw with device='cpu'")
    if torch.device(device).index is not None and torch.device(device).index >= torch.cuda.device_count():
        raise SpurgenError(f"there is no GPU {device!r}; there are {torch.cuda.device_count()}")
    return torch


@cache
def compiled(capability: tuple[int, int]) -> tuple[Any, Any]:
    """The two kernels for GPUs of one compute capability."""
    from numba import cuda

    from spurgen.render.image.sdf import kernels
    from spurgen.render.image.sdf.rounding import exactly

    with exactly():
        return (
            cuda.jit(kernels.DRAW_SIGNATURE, lto=False, max_registers=REGISTERS)(kernels.draw_pixel),
            cuda.jit(kernels.BLUR_SIGNATURE, lto=False)(kernels.blur_pixel),
        )


def ptx(capability: tuple[int, int] = (9, 0)) -> str:
    """What the drawing kernel becomes for a GPU of this compute capability; needs NVVM but no GPU."""
    from numba import cuda
    from numba.core import sigutils

    from spurgen.render.image.sdf import kernels
    from spurgen.render.image.sdf.rounding import exactly

    arguments, _ = sigutils.normalize_signature(kernels.DRAW_SIGNATURE)
    with exactly():
        code, _ = cuda.compile_ptx(kernels.draw_pixel, arguments, cc=capability)
    return str(code)


def _boxes(torch: Any, mask: Any) -> Any:
    """The smallest box around the pixels above 0 of each mask, -1 where there is none."""
    found = torch.full((len(mask), 4), -1, dtype=torch.int32, device=mask.device)
    for side, axis in ((0, 1), (1, 2)):
        line = (mask > 0).any(axis)
        seen = line.any(1)
        first = line.int().argmax(1)
        last = line.shape[1] - line.flip(1).int().argmax(1)
        found[:, side] = torch.where(seen, first, -1)
        found[:, side + 2] = torch.where(seen, last, -1)
    return found
