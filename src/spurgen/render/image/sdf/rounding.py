"""CUDA code that rounds after every operation, as CPUs do: no fused multiply-add, no approximate / or sqrt.

NVVM fuses a * b + c unless told not to, and ptxas fuses again what reaches it as `mul.f32` and `add.f32`: only the
spellings with an explicit rounding, `mul.rn.f32`, are kept apart. So both are seen to while kernels are compiled.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.cuda.cudadrv import nvvm

OPTIONS = {"fma": False, "prec_div": True, "prec_sqrt": True, "ftz": False}
_UNROUNDED = re.compile(rb"\b(add|sub|mul)(\.ftz)?\.f(32|64)\b")
_LOOSE = re.compile(
    r"\b(fma|mad)\.\S*f(32|64)|\b(add|sub|mul)(\.ftz)?\.f(32|64)|\.ftz\.|\b(div|sqrt|rcp|rsqrt)\.(approx|full)"
)
_patching = threading.Lock()


def rounded(ptx: bytes) -> bytes:
    """PTX in which every + - * of floating-point numbers states its rounding."""
    return _UNROUNDED.sub(rb"\1.rn\2.f\3", ptx)


def contractions(ptx: str) -> list[str]:
    """Lines of PTX that do, or allow ptxas to do, something other than rounding to nearest after each operation."""
    return [line.strip() for line in ptx.splitlines() if _LOOSE.search(line)]


@contextmanager
def exactly() -> Iterator[None]:
    """Within it, numba-cuda compiles with these options. The kernels must be compiled with lto=False."""
    with _patching:
        compile_ir = nvvm.compile_ir

        def compile_rounded(irs: Any, **options: Any) -> bytes:
            return rounded(compile_ir(irs, **(options | OPTIONS)))

        nvvm.compile_ir = compile_rounded
        try:
            yield
        finally:
            nvvm.compile_ir = compile_ir
