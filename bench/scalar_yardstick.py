"""A plain numba ray marcher, one ray at a time: what the engine's speed is measured against.

Ten shapes, four wall patterns, soft shadows on object and wall, soft edges: the usual way to write it, no packets, no
culling beyond a bounding ball. It is here to be timed, not to be used.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

F = np.float32
plain = numba.njit(error_model="numpy")


@plain
def length(x, y, z):
    return np.sqrt(x * x + y * y + z * z)


@plain
def box(x, y, z, a, b, c, r):
    x, y, z = abs(x) - a, abs(y) - b, abs(z) - c
    return length(max(x, F(0)), max(y, F(0)), max(z, F(0))) + min(max(x, max(y, z)), F(0)) - r


@plain
def cylinder(x, y, z, r, h):
    a, b = length(x, F(0), z) - r, abs(y) - h
    return min(max(a, b), F(0)) + length(max(a, F(0)), max(b, F(0)), F(0))


@plain
def torus(x, y, z, ring, tube):
    return length(length(x, F(0), z) - ring, y, F(0)) - tube


@plain
def distance(shape, x, y, z):
    if shape == 0:
        return length(x, y, z) - F(0.62)
    if shape == 1:
        return box(x, y, z, F(0.42), F(0.42), F(0.42), F(0.06))
    if shape == 2:
        return cylinder(x, y, z, F(0.42), F(0.55)) - F(0.03)
    if shape == 3:
        h = y + F(0.5)
        return max(F(0.8575) * length(x, F(0), z) + F(0.5145) * (h - F(1.1)), -h) * F(0.95)
    if shape == 4:
        return torus(x, y, z, F(0.5), F(0.2))
    if shape == 5:
        return length(x, y - min(max(y, F(-0.45)), F(0.45)), z) - F(0.3)
    if shape == 6:
        return (abs(x) + abs(y) + abs(z) - F(0.8)) * F(0.57735)
    if shape == 7:
        a, b = abs(x), abs(z)
        return max(max(F(0.866025) * a + F(0.5) * b, b) - F(0.5), abs(y) - F(0.4))
    if shape == 8:
        body = max(cylinder(x, y, z, F(0.45), F(0.5)), -cylinder(x, y - F(0.12), z, F(0.37), F(0.5)))
        return min(body, max(torus(x - F(0.45), z, y, F(0.28), F(0.07)), F(0.41) - x))
    a = box(x, y, z, F(0.68), F(0.16), F(0.16), F(0.04))
    b = box(x, y, z, F(0.16), F(0.68), F(0.16), F(0.04))
    return min(a, min(b, box(x, y, z, F(0.16), F(0.16), F(0.68), F(0.04))))


@plain
def lattice(i, j, seed):
    n = numba.uint32(i * 0x27D4EB2D ^ j * 0x165667B1 ^ seed * 0x9E3779B1)
    n = numba.uint32((n ^ (n >> 15)) * 0x85EBCA6B)
    n = numba.uint32((n ^ (n >> 13)) * 0xC2B2AE35)
    return F(numba.uint32(n ^ (n >> 16)) >> 8) * F(1 / 16777216)


@plain
def noise(u, v, seed):
    fu, fv = np.floor(u), np.floor(v)
    i, j, u, v = numba.int32(fu), numba.int32(fv), u - fu, v - fv
    u, v = u * u * (F(3) - F(2) * u), v * v * (F(3) - F(2) * v)
    a, b = lattice(i, j, seed), lattice(i + 1, j, seed)
    c, d = lattice(i, j + 1, seed), lattice(i + 1, j + 1, seed)
    return a + (b - a) * u + (c - a) * v + (a - b - c + d) * u * v


@plain
def stripe(t, width):
    t = abs(t - np.floor(t) - F(0.5)) * F(2)
    return min(max((t - F(0.5)) / width + F(0.5), F(0)), F(1))


@plain
def pattern(kind, u, v, seed, width):
    if kind == 0:
        return stripe(u, width)
    if kind == 1:
        a, b = stripe(u * F(0.5), width), stripe(v * F(0.5), width)
        return a + b - F(2) * a * b
    if kind == 2:
        d = F(0.3) - length(u - np.floor(u) - F(0.5), v - np.floor(v) - F(0.5), F(0))
        return min(max(d / width + F(0.5), F(0)), F(1))
    mixed = noise(u, v, seed) * F(0.6) + noise(u * F(2.1), v * F(2.1), seed + 1) * F(0.4)
    return min(max(F(0.5) + F(1.2) * (mixed - F(0.5)), F(0)), F(1))


@plain
def shadow(shape, x, y, z, lx, ly, lz):
    b = x * lx + y * ly + z * lz
    h = b * b - (x * x + y * y + z * z - F(1))
    if h <= 0:
        return F(1)
    h = np.sqrt(h)
    t, end, light = max(-b - h, F(0.03)), -b + h, F(1)
    if end <= t:
        return F(1)
    for _ in range(24):
        d = distance(shape, x + lx * t, y + ly * t, z + lz * t)
        light = min(light, F(8) * d / t)
        if light < F(0.02):
            return F(0)
        t += max(d, F(0.02))
        if t > end:
            break
    return light


@numba.njit(nogil=True, cache=True, error_model="numpy")
def draw_some(shapes, scenes, out):
    """Fill out[n, size, size, 3]; a scene: turn, scale, light, intensity, eye distance, kind, three colours, seed."""
    count, size = out.shape[0], out.shape[1]
    tan, e = F(0.36), F(0.002)
    pixel = F(2) * tan / F(size)
    for n in range(count):
        shape, p = shapes[n], scenes[n]
        scale, intensity, far, kind, seed = p[9], p[13], p[14], numba.int32(p[15]), numba.int32(p[25])
        lx = p[0] * p[10] + p[3] * p[11] + p[6] * p[12]
        ly = p[1] * p[10] + p[4] * p[11] + p[7] * p[12]
        lz = p[2] * p[10] + p[5] * p[11] + p[8] * p[12]
        ox, oy, oz = p[6] * far / scale, p[7] * far / scale, p[8] * far / scale
        for row in range(size):
            v = (F(1) - (F(row) + F(0.5)) * F(2) / F(size)) * tan
            for column in range(size):
                u = ((F(column) + F(0.5)) * F(2) / F(size) - F(1)) * tan
                short = F(1) / np.sqrt(F(1) + u * u + v * v)
                dx = (u * p[0] + v * p[3] - p[6]) * short
                dy = (u * p[1] + v * p[4] - p[7]) * short
                dz = (u * p[2] + v * p[5] - p[8]) * short
                wall = far + F(1.3)
                g = pattern(kind, u * wall * F(2), v * wall * F(2), seed, F(4) * pixel * wall)
                t = wall / short / scale
                lit = F(0.25) + intensity * p[12] * shadow(shape, ox + dx * t, oy + dy * t, oz + dz * t, lx, ly, lz)
                red = (p[19] + (p[22] - p[19]) * g) * lit
                green = (p[20] + (p[23] - p[20]) * g) * lit
                blue = (p[21] + (p[24] - p[21]) * g) * lit
                b = ox * dx + oy * dy + oz * dz
                h = b * b - (ox * ox + oy * oy + oz * oz - F(1))
                if h > 0:
                    h = np.sqrt(h)
                    t, end, best, best_t = -b - h, -b + h, F(1e9), -b
                    for _ in range(64):
                        d = distance(shape, ox + dx * t, oy + dy * t, oz + dz * t)
                        q = d / (t * pixel)
                        if q < best:
                            best, best_t = q, t
                        if q < F(0.25):
                            break
                        t += d
                        if t > end:
                            break
                    cover = min(max(F(1.25) - best, F(0)), F(1))
                    if cover > 0:
                        x, y, z = ox + dx * best_t, oy + dy * best_t, oz + dz * best_t
                        a1, a2 = distance(shape, x + e, y - e, z - e), distance(shape, x - e, y - e, z + e)
                        a3, a4 = distance(shape, x - e, y + e, z - e), distance(shape, x + e, y + e, z + e)
                        nx, ny, nz = a1 - a2 - a3 + a4, -a1 - a2 + a3 + a4, -a1 + a2 - a3 + a4
                        short = F(1) / np.sqrt(nx * nx + ny * ny + nz * nz + F(1e-20))
                        nx, ny, nz = nx * short, ny * short, nz * short
                        lit = max(nx * lx + ny * ly + nz * lz, F(0))
                        if lit > 0:
                            lit *= shadow(shape, x + nx * F(0.02), y + ny * F(0.02), z + nz * F(0.02), lx, ly, lz)
                        hx, hy, hz = lx - dx, ly - dy, lz - dz
                        s = max((nx * hx + ny * hy + nz * hz) / np.sqrt(hx * hx + hy * hy + hz * hz), F(0))
                        for _ in range(5):
                            s *= s
                        light = F(0.18) - F(0.1) * (nx * dx + ny * dy + nz * dz) + intensity * lit * F(0.9)
                        gloss = F(0.35) * s * intensity * min(lit * F(4), F(1))
                        red += (p[16] * light + gloss - red) * cover
                        green += (p[17] * light + gloss - green) * cover
                        blue += (p[18] * light + gloss - blue) * cover
                out[n, row, column, 0] = numba.uint8(min(max(np.sqrt(max(red, F(0))), F(0)), F(1)) * F(255) + F(0.5))
                out[n, row, column, 1] = numba.uint8(min(max(np.sqrt(max(green, F(0))), F(0)), F(1)) * F(255) + F(0.5))
                out[n, row, column, 2] = numba.uint8(min(max(np.sqrt(max(blue, F(0))), F(0)), F(1)) * F(255) + F(0.5))


def draw(shapes: NDArray[np.int32], scenes: NDArray[np.float32], out: NDArray[np.uint8], workers: int) -> None:
    """Slices of pictures on threads. Not prange: its idle threads spin, which would slow what is measured next."""
    step = max(1, -(-len(shapes) // (4 * workers)))
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda i: draw_some(shapes[i : i + step], scenes[i : i + step], out[i : i + step]),
                      range(0, len(shapes), step)))  # fmt: skip


def scenes(count: int, seed: int = 0) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Shapes and scenes at random: any turn, light from the front half, three colours."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    turn = np.stack(
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w),
         1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w),
         1 - 2 * (x * x + y * y)], 1,
    )  # fmt: skip
    azimuth, elevation = rng.uniform(0, 2 * np.pi, count), np.deg2rad(rng.uniform(25, 70, count))
    light = np.stack([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)], 1)
    columns: list[Any] = [turn, rng.uniform(0.75, 1.1, (count, 1)), light, rng.uniform(0.6, 1.2, (count, 1))]
    columns += [rng.uniform(4.2, 5, (count, 1)), rng.integers(0, 4, (count, 1)), rng.uniform(0.2, 0.9, (count, 9))]
    columns += [rng.integers(0, 64, (count, 1))]
    return rng.integers(0, 10, count).astype(np.int32), np.concatenate(columns, 1).astype(np.float32)
