"""Many rays as one value: `Lanes` is a numba type whose values are LLVM vectors, one element per ray.

Operators on it are registered below, so that ordinary functions compile for plain float32 numbers (the reference,
and a CUDA thread) or for Lanes. LLVM cuts a Lanes value into machine registers. A per-ray branch is written as
`select(mask, a, b)`; branches on what all rays of a picture share stay plain `if`s.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import float32, int32, uint32
from numba.core import cgutils, types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, overload, register_model

# Several registers per value hide the latency of / and sqrt. Pictures do not depend on these numbers,
# which SPURGEN_TILE changes.
_WIDE = llvm.get_host_cpu_features().get("avx512f", False)
TILE_W, TILE_H = (int(n) for n in os.environ.get("SPURGEN_TILE", "8x8" if _WIDE else "8x4").split("x"))
LANES = TILE_W * TILE_H


class Lanes(types.Type):  # type: ignore[misc]
    """A vector of LANES elements of one scalar type."""

    def __init__(self, element: ir.Type, scalar: types.Type):
        self.vector = ir.VectorType(element, LANES)
        self.scalar = scalar
        super().__init__(f"lanes{LANES}({scalar})")

    def can_convert_from(self, typingctx: Any, other: types.Type) -> Conversion | None:
        """Numbers become Lanes by repeating them."""
        return Conversion.safe if isinstance(other, types.Number | types.Boolean) else None


LF = Lanes(ir.FloatType(), types.float32)
LU = Lanes(ir.IntType(32), types.uint32)
LB = Lanes(ir.IntType(1), types.boolean)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    """A Lanes value is its vector."""

    def __init__(self, dmm: Any, fe_type: Lanes):
        super().__init__(dmm, fe_type, fe_type.vector)


@lower_cast(types.Number, Lanes)
@lower_cast(types.Boolean, Lanes)
def _repeat(context: Any, builder: Any, fromty: Any, toty: Lanes, value: Any) -> Any:
    value = context.cast(builder, value, fromty, toty.scalar)
    first = builder.insert_element(ir.Constant(toty.vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _register(function: Callable[..., Any], args: tuple[Lanes, ...], result: Lanes, emit: Callable[..., Any]) -> None:
    """function(*args) -> result for Lanes, lowered by emit(builder, *values); scalar arguments are repeated."""

    @infer_global(function)
    class Template(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, given: Any, kws: Any) -> Any:
            lanes = [(g, a) for g, a in zip(given, args, strict=False) if isinstance(g, Lanes)]
            if lanes and len(given) == len(args) and all(g == a for g, a in lanes):
                return signature(result, *args)
            return None

    @lower_builtin(function, *args)
    def lower(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return emit(builder, *values)


def _unary(name: str) -> Callable[..., Any]:
    def emit(builder: Any, x: Any) -> Any:
        kind = ir.FunctionType(x.type, [x.type])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32"), [x])

    return emit


def _method(name: str) -> Callable[..., Any]:
    return lambda builder, x, y: getattr(builder, name)(x, y)


def _compare(symbol: str) -> Callable[..., Any]:
    return lambda builder, x, y: builder.fcmp_ordered(symbol, x, y)


def _nearer(symbol: str) -> Callable[..., Any]:  # numba's rule for scalar min and max: y where it compares true
    return lambda builder, x, y: builder.select(builder.fcmp_ordered(symbol, y, x), y, x)


for _function, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_function, (LF, LF), LF, _method(_name))
_WHOLE = ((operator.add, "add"), (operator.mul, "mul"), (operator.xor, "xor"), (operator.rshift, "lshr"))
for _function, _name in _WHOLE:
    _register(_function, (LU, LU), LU, _method(_name))
for _function, _name in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _register(_function, (LF, LF), LB, _compare(_name))
_rounds: tuple[tuple[Callable[..., Any], str], ...] = ((abs, "fabs"), (math.sqrt, "sqrt"), (math.floor, "floor"))
for _of_one, _name in _rounds:
    _register(_of_one, (LF,), LF, _unary(_name))
_register(min, (LF, LF), LF, _nearer("<"))
_register(max, (LF, LF), LF, _nearer(">"))
_register(operator.neg, (LF,), LF, lambda builder, x: builder.fneg(x))
_register(operator.and_, (LB, LB), LB, _method("and_"))
_register(operator.or_, (LB, LB), LB, _method("or_"))


# --------------------------------------------------- the operations that are written differently for scalars


@intrinsic
def _lanes_select(typing, mask, a, b):  # type: ignore[no-untyped-def]
    return LF(LB, LF, LF), lambda context, builder, sig, values: builder.select(*values)


@intrinsic
def _lanes_any(typing, mask):  # type: ignore[no-untyped-def]
    def generate(context, builder, sig, values):  # type: ignore[no-untyped-def]
        bits = ir.IntType(LANES)
        return builder.icmp_unsigned("!=", builder.bitcast(values[0], bits), ir.Constant(bits, 0))

    return types.boolean(LB), generate


@intrinsic
def _lanes_to_u32(typing, x):  # type: ignore[no-untyped-def]
    return LU(LF), lambda context, builder, sig, values: builder.fptosi(values[0], LU.vector)


@intrinsic
def _lanes_to_f32(typing, x):  # type: ignore[no-untyped-def]
    return LF(LU), lambda context, builder, sig, values: builder.sitofp(values[0], LF.vector)


def select(mask, a, b):  # type: ignore[no-untyped-def]
    """a where the mask holds, else b."""


def any_ray(mask):  # type: ignore[no-untyped-def]
    """Whether the mask holds for one ray at least."""


def floor(x):  # type: ignore[no-untyped-def]
    """The largest whole number not above x, as float32."""


def to_u32(x):  # type: ignore[no-untyped-def]
    """A whole number as 32 bits."""


def to_f32(n):  # type: ignore[no-untyped-def]
    """32 bits below 2**31 as a number."""


def wrap(n):  # type: ignore[no-untyped-def]
    """Cut to 32 bits: numba makes scalar uint32 * uint32 a uint64, Lanes stay at 32."""


@overload(select)
def _select(mask, a, b):  # type: ignore[no-untyped-def]
    if isinstance(mask, Lanes):
        return lambda mask, a, b: _lanes_select(mask, a, b)
    return lambda mask, a, b: float32(a) if mask else float32(b)


@overload(any_ray)
def _any_ray(mask):  # type: ignore[no-untyped-def]
    if isinstance(mask, Lanes):
        return lambda mask: _lanes_any(mask)
    return lambda mask: mask


@overload(floor)
def _floor(x):  # type: ignore[no-untyped-def]
    if isinstance(x, Lanes):
        return lambda x: math.floor(x)
    return lambda x: float32(math.floor(x))


@overload(to_u32)
def _to_u32(x):  # type: ignore[no-untyped-def]
    if isinstance(x, Lanes):
        return lambda x: _lanes_to_u32(x)
    return lambda x: uint32(int32(x))


@overload(to_f32)
def _to_f32(n):  # type: ignore[no-untyped-def]
    if isinstance(n, Lanes):
        return lambda n: _lanes_to_f32(n)
    return lambda n: float32(int32(n))


@overload(wrap)
def _wrap(n):  # type: ignore[no-untyped-def]
    if isinstance(n, Lanes):
        return lambda n: n
    return lambda n: uint32(n)


@intrinsic
def apart(typing):  # type: ignore[no-untyped-def]
    """Said inside a function: do not copy it into its callers. LLVM would, at the price of a giant program."""

    def generate(context, builder, sig, values):  # type: ignore[no-untyped-def]
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), generate


# ----------------------------------------------------------------------------------------- a tile of pixels


@intrinsic
def tile_columns(typing):  # type: ignore[no-untyped-def]
    """The column of each ray within its tile."""
    return LF(), lambda *_: ir.Constant(LF.vector, [float(i % TILE_W) for i in range(LANES)])


@intrinsic
def tile_rows(typing):  # type: ignore[no-untyped-def]
    """The row of each ray within its tile."""
    return LF(), lambda *_: ir.Constant(LF.vector, [float(i // TILE_W) for i in range(LANES)])


def _store(builder: Any, data: Any, at: Any, stride: Any, row: int, part: Any, align: int) -> None:
    """Write one row of a tile, rows being `stride` elements apart."""
    place = builder.gep(data, [builder.add(at, builder.mul(stride, ir.Constant(stride.type, row)))])
    builder.store(part, builder.bitcast(place, part.type.as_pointer()), align=align)


def _shuffle(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order))


def _row(row: int) -> range:
    return range(row * TILE_W, (row + 1) * TILE_W)


@intrinsic
def store_colours(typing, out, at, stride, red, green, blue):  # type: ignore[no-untyped-def]
    """Write a tile of colours to a flat uint8 array: the first pixel at index `at`, rows `stride` apart."""

    def generate(context, builder, sig, values):  # type: ignore[no-untyped-def]
        out, at, stride, *colours = values
        red, green, blue = (builder.fptosi(c, LU.vector) for c in colours)
        green, blue = (builder.shl(c, ir.Constant(LU.vector, [bits] * LANES)) for c, bits in ((green, 8), (blue, 16)))
        pixels = builder.or_(red, builder.or_(green, blue))  # four bytes each; the last of them is left out below
        data = context.make_array(sig.args[0])(context, builder, out).data
        kept = [i for i in range(4 * TILE_W) if i % 4 < 3]
        for row in range(TILE_H):
            part = _shuffle(builder, pixels, pixels, list(_row(row)))
            spread = builder.bitcast(part, ir.VectorType(ir.IntType(8), 4 * TILE_W))
            _store(builder, data, at, stride, row, _shuffle(builder, spread, spread, kept), 1)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64, LF, LF, LF), generate


@intrinsic
def store_bytes(typing, out, at, stride, value):  # type: ignore[no-untyped-def]
    """Write a tile of numbers from 0 to 255 to a flat uint8 array."""

    def generate(context, builder, sig, values):  # type: ignore[no-untyped-def]
        out, at, stride, value = values
        cut = builder.trunc(builder.fptosi(value, LU.vector), ir.VectorType(ir.IntType(8), LANES))
        data = context.make_array(sig.args[0])(context, builder, out).data
        for row in range(TILE_H):
            _store(builder, data, at, stride, row, _shuffle(builder, cut, cut, list(_row(row))), 1)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64, LF), generate


@intrinsic
def store_floats(typing, out, at, stride, value):  # type: ignore[no-untyped-def]
    """Write a tile of numbers to a flat float32 array."""

    def generate(context, builder, sig, values):  # type: ignore[no-untyped-def]
        out, at, stride, value = values
        data = context.make_array(sig.args[0])(context, builder, out).data
        for row in range(TILE_H):
            _store(builder, data, at, stride, row, _shuffle(builder, value, value, list(_row(row))), 4)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64, LF), generate
