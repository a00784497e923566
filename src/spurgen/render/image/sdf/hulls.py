"""Balls whose common hull holds each shape: how far it reaches, and where its lowest point is in any pose.

A shape rests on the floor with its lowest point, and rays that miss its bounding ball need not be followed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spurgen.render.image.sdf.trigonometry import cos_sin

Balls = NDArray[np.float64]  # (n, 4): x, y, z, radius


def corners(a: float, b: float, c: float, r: float = 0.0, y: float = 0.0) -> Balls:
    """A rounded box of half sizes a + r, b + r, c + r at height y."""
    return np.array([(i * a, y + j * b, k * c, r) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])


def ring(radius: float, y: float, r: float = 0.0, axis: int = 1, count: int = 16) -> Balls:
    """Balls of radius r on a circle around the given axis, at height y along it."""
    cos, sin = np.transpose([cos_sin(i * (360 / count)) for i in range(count)])
    out = np.empty((count, 4))
    out[:, axis], out[:, (axis + 1) % 3], out[:, (axis + 2) % 3], out[:, 3] = y, radius * sin, radius * cos, r
    return out


def prism(points: list[tuple[float, float]], h: float, r: float) -> Balls:
    """A flat figure with these corners, drawn out to half thickness h + r."""
    return np.array([(x, y, z, r) for x, y in points for z in (-h, h)])


def balls(*xyzr: tuple[float, float, float, float]) -> Balls:
    """Balls given one by one."""
    return np.array(xyzr)


def _star() -> list[tuple[float, float]]:
    turns = [cos_sin(i * 72.0) for i in range(5)]
    return [(float(0.74 * s), float(0.74 * c)) for c, s in turns]


HULLS: dict[str, Balls] = {
    "mug": np.concatenate([ring(0.45, -0.52), ring(0.45, 0.52), ring(0.27, 0, 0.09, 2) + [0.45, 0, 0, 0]]),
    "heart": np.concatenate(
        [prism([(0, -0.62)], 0.1, 0.12),
         *(ring(0.396, z, 0.12, 2) + [x, 0.22, 0, 0] for x in (-0.28, 0.28) for z in (-0.1, 0.1))]
    ),
    "star": prism(_star(), 0.15, 0),
    "chair": np.concatenate([corners(0.4, 0.38, 0.4, 0, -0.38), corners(0.4, 0.38, 0.41, 0, 0.4)]),
    "dumbbell": np.concatenate([ring(0.38, x, 0, 0) for x in (-0.71, -0.33, 0.33, 0.71)]),
    "mushroom": np.concatenate([ring(0.28, -0.64), ring(0.635, 0.02), balls((0, 0, 0, 0.56))]),
    "hourglass": np.concatenate([ring(0.48, -0.67), ring(0.48, 0.67)]),
    "arrow": prism([(-0.17, -0.72), (0.17, -0.72), (-0.615, -0.04), (0.615, -0.04), (0, 0.7)], 0.15, 0),
    "torus": ring(0.48, 0, 0.22, 2),
    "jack": np.concatenate([corners(*size) for size in ((0.7, 0.17, 0.17), (0.17, 0.7, 0.17), (0.17, 0.17, 0.7))]),
    "gear": np.concatenate([ring(0.725, z, 0, 2, 32) for z in (-0.16, 0.16)]),
    "crescent": np.concatenate([ring(0.7, z, 0, 2, 24) for z in (-0.16, 0.16)]),
    "arch": prism([(-0.6, -0.58), (0.6, -0.58), (-0.6, 0.58), (0.6, 0.58)], 0.21, 0),
    "cone": np.concatenate([corners(0.53, 0.06, 0.53, 0, -0.6), ring(0.07, 0.7)]),
    "pawn": np.concatenate([ring(0.46, -0.69), balls((0, 0.42, 0, 0.27))]),
    "house": np.concatenate(
        [corners(0.47, 0.37, 0.4, 0, -0.25), prism([(-0.73, 0.04), (0.73, 0.04), (0.0, 0.62)], 0.48, 0),
         corners(0.1, 0.24, 0.1, 0, 0.45) + [0.28, 0, 0, 0]]
    ),
    "hammer": np.concatenate([ring(0.1, -0.76), ring(0.25, -0.52, 0, 0) + [0, 0.42, 0, 0],
                              ring(0.25, 0.52, 0, 0) + [0, 0.42, 0, 0]]),
    "key": np.concatenate([prism([(-0.1, -0.78), (0.1, -0.78), (0.4, -0.77), (0.4, -0.29)], 0.12, 0),
                           ring(0.37, -0.12, 0, 2) + [0, 0.4, 0, 0], ring(0.37, 0.12, 0, 2) + [0, 0.4, 0, 0]]),
    "snowman": balls((0, -0.36, 0, 0.42), (0, 0.16, 0, 0.3), (0, 0.56, 0, 0.22), (0, 0.56, 0.48, 0.02)),
    "bottle": np.concatenate([ring(0.36, -0.74), ring(0.36, 0.18), ring(0.16, 0.76)]),
    "cactus": balls((0, -0.62, 0, 0.2), (0, 0.5, 0, 0.2), (-0.42, -0.14, 0, 0.13), (-0.42, 0.28, 0, 0.13),
                    (0.42, 0.08, 0, 0.13), (0.42, 0.46, 0, 0.13)),
    "cube": corners(0.48, 0.48, 0.48),
    "ball": balls((0, 0, 0, 0.6)),
    "can": np.concatenate([ring(0.44, -0.56), ring(0.44, 0.56)]),
}  # fmt: skip


def reach(name: str) -> float:
    """The radius of the ball around the origin that holds the shape."""
    hull = HULLS[name]
    return float((np.sqrt((hull[:, :3] ** 2).sum(1)) + hull[:, 3]).max())


def bounds(name: str) -> tuple[float, ...]:
    """Centre (three numbers) and half sizes (three numbers) of the box that holds the shape."""
    hull = HULLS[name]
    low = (hull[:, :3] - hull[:, 3:]).min(0)
    high = (hull[:, :3] + hull[:, 3:]).max(0)
    return (*((low + high) / 2), *((high - low) / 2))
