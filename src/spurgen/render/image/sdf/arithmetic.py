"""The small functions that every part of the scene program is made of: float32, exact, scalar or Lanes."""

from __future__ import annotations

import math

import numba
import numpy as np

from spurgen.render.image.sdf.lanes import floor, select, to_f32, to_u32, wrap

# Without fastmath LLVM keeps every rounding where it is written; error_model="numpy" spares tests for division by 0.
EXACT = {"error_model": "numpy", "fastmath": False}
scene = numba.njit(forceinline=True, **EXACT)
# Flags are inherited from the caller unless given, so that "not inlined" has to be said.
called = numba.njit(forceinline=False, **EXACT)  # for large functions that are used in several places

f32, u32 = np.float32, np.uint32
sqrt = math.sqrt
ZERO, HALF, ONE, TWO = f32(0), f32(0.5), f32(1), f32(2)


@scene
def clamp(x, low, high):
    """x, but not below low nor above high."""
    return min(max(x, low), high)


@scene
def unit(x):
    """x, but not below 0 nor above 1."""
    return min(max(x, ZERO), ONE)


@scene
def length2(x, y):
    """Length of a vector in the plane."""
    return sqrt(x * x + y * y)


@scene
def length3(x, y, z):
    """Length of a vector in space."""
    return sqrt(x * x + y * y + z * z)


@scene
def dot(ax, ay, az, bx, by, bz):
    """Inner product."""
    return ax * bx + ay * by + az * bz


@scene
def mix(a, b, share):
    """From a (share 0) to b (share 1)."""
    return a + (b - a) * share


@scene
def lay(under, over, cover):
    """`over` laid over `under`: exactly `over` where it covers all."""
    return select(cover >= ONE, over, mix(under, over, cover))


@scene
def fraction(x):
    """What is left of x above the whole number below it."""
    return x - floor(x)


@scene
def lattice(i, j, seed):
    """Integer hash of a point of the lattice -> [0, 1)."""
    n = wrap(i * u32(0x27D4EB2D)) ^ wrap(j * u32(0x165667B1)) ^ wrap(seed * u32(0x9E3779B1))
    n = wrap((n ^ (n >> u32(15))) * u32(0x85EBCA6B))
    n = wrap((n ^ (n >> u32(13))) * u32(0xC2B2AE35))
    return to_f32((n ^ (n >> u32(16))) >> u32(8)) * f32(1 / 16777216)


@scene
def noise(u, v, seed):
    """Smooth random surface with values in [0, 1]."""
    fu, fv = floor(u), floor(v)
    i, j = to_u32(fu), to_u32(fv)
    u = u - fu
    v = v - fv
    u = u * u * (f32(3) - TWO * u)
    v = v * v * (f32(3) - TWO * v)
    a = lattice(i, j, seed)
    i1 = wrap(i + u32(1))
    j1 = wrap(j + u32(1))
    b = lattice(i1, j, seed)
    c = lattice(i, j1, seed)
    d = lattice(i1, j1, seed)
    return a + (b - a) * u + (c - a) * v + (a - b - c + d) * u * v
