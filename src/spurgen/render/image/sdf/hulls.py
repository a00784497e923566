"""Balls whose common hull holds each shape: how far it reaches, and where its lowest point is in any pose.

A shape rests on the floor with its lowest point, and rays that miss its bounding ball need not be followed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spurgen.render.image.sdf import trigonometry

Balls = NDArray[np.float64]  # (n, 4): x, y, z, radius


def corners(a: float, b: float, c: float, r: float = 0.0, y: float = 0.0) -> Balls:
    """A rounded box of half sizes a + r, b + r, c + r at height y."""
    return np.array([(i * a, y + j * b, k * c, r) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])


def ring(radius: float, y: float, r: float = 0.0, axis: int = 1, count: int = 16) -> Balls:
    """Balls of radius r on a circle around the given axis, at height y along it."""
    cos, sin = trigonometry.cos_sin(np.arange(count) * (360 / count))
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
    cos, sin = trigonometry.cos_sin(np.arange(5) * 72.0)
    return [(float(0.66 * s), float(0.66 * c)) for c, s in zip(cos, sin, strict=True)]


_JACK = [corners(*size, 0.04) for size in ((0.66, 0.13, 0.13), (0.13, 0.66, 0.13), (0.13, 0.13, 0.66))]

HULLS: dict[str, Balls] = {
    "mug": np.concatenate([ring(0.43, -0.5, 0.015), ring(0.43, 0.5, 0.015), ring(0.27, 0, 0.09, 2) + [0.45, 0, 0, 0]]),
    "heart": prism([(0.0, -0.62), (-0.28, 0.22), (0.28, 0.22), (-0.28, 0.24), (0.28, 0.24)], 0.1, 0.12),
    "star": prism(_star(), 0.09, 0.06),
    "chair": np.concatenate([corners(0.37, 0.37, 0.37, 0.03, -0.37), corners(0.37, 0.36, 0.38, 0.03, 0.4)]),
    "dumbbell": np.concatenate([ring(0.34, x, 0.04, 0) for x in (-0.67, -0.37, 0.37, 0.67)]),
    "mushroom": np.concatenate([ring(0.26, -0.62, 0.02), ring(0.6, 0.02, 0.02), balls((0, 0, 0, 0.6))]),
    "hourglass": np.concatenate([ring(0.46, -0.65, 0.02), ring(0.46, 0.65, 0.02)]),
    "arrow": prism([(-0.13, -0.68), (0.13, -0.68), (-0.47, 0), (0.47, 0), (0, 0.62)], 0.1, 0.05),
    "torus": ring(0.46, 0, 0.2, 2),
    "jack": np.concatenate(_JACK),
    "gear": np.concatenate([ring(0.69, z, 0.05, 2, 32) for z in (-0.13, 0.13)]),
    "crescent": np.concatenate([ring(0.66, z, 0.04, 2, 24) for z in (-0.12, 0.12)]),
    "arch": prism([(-0.58, -0.56), (0.58, -0.56), (-0.58, 0.56), (0.58, 0.56)], 0.18, 0.03),
    "cone": np.concatenate([corners(0.5, 0.03, 0.5, 0.03, -0.57), ring(0.07, 0.68)]),
    "pawn": np.concatenate([ring(0.42, -0.63, 0.04), balls((0, 0.42, 0, 0.25))]),
    "house": np.concatenate(
        [corners(0.44, 0.33, 0.38, 0.01, -0.25), prism([(-0.72, 0.06), (0.72, 0.06), (0.0, 0.6)], 0.46, 0.0),
         balls((0.36, 0.68, 0.09, 0), (0.36, 0.68, -0.09, 0))]
    ),
    "hammer": np.concatenate([balls((0, -0.66, 0, 0.09)), ring(0.2, -0.42, 0.03, 0) + [0, 0.42, 0, 0],
                              ring(0.2, 0.42, 0.03, 0) + [0, 0.42, 0, 0]]),
    "key": np.concatenate([prism([(-0.07, -0.72), (0.07, -0.72), (0.32, -0.69), (0.32, -0.4)], 0.07, 0.03),
                           ring(0.32, 0.07, 0.03, 2) + [0, 0.42, -0.07, 0], ring(0.32, -0.07, 0.03, 2) + [0, 0.42, 0.07, 0]]),
    "snowman": balls((0, -0.36, 0, 0.4), (0, 0.14, 0, 0.28), (0, 0.52, 0, 0.2), (0, 0.52, 0.42, 0.02)),
    "bottle": np.concatenate([ring(0.28, -0.68, 0.04), ring(0.28, 0.16, 0.04), ring(0.12, 0.71, 0.02)]),
    "cactus": balls((0, -0.6, 0, 0.18), (0, 0.5, 0, 0.18), (-0.42, -0.12, 0, 0.11), (-0.42, 0.28, 0, 0.11),
                    (0.42, 0.1, 0, 0.11), (0.42, 0.42, 0, 0.11)),
    "cube": corners(0.44, 0.44, 0.44, 0.05),
    "ball": balls((0, 0, 0, 0.6)),
    "can": np.concatenate([ring(0.4, -0.52, 0.04), ring(0.4, 0.52, 0.04)]),
}  # fmt: skip


def reach(name: str) -> float:
    """The radius of the ball around the origin that holds the shape."""
    hull = HULLS[name]
    return float((np.sqrt((hull[:, :3] ** 2).sum(1)) + hull[:, 3]).max())
