"""Angles, hulls and declarations of the image modality."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spurgen.channels import background, hue, light
from spurgen.classes import CLASSES, DEFAULT_CLASSES
from spurgen.render.image.sdf import hulls, params
from spurgen.render.image.sdf.trigonometry import cos_sin
from spurgen.render.image.traits import FLOORS, MATERIALS, SHADOWS, SHAPES, TRAITS


def test_trigonometry() -> None:
    degrees = np.concatenate([np.linspace(-800, 800, 20_001), np.arange(-720, 721, 15.0)])
    cos, sin = cos_sin(degrees)
    radians = [math.radians(d) for d in degrees]
    assert np.abs(cos - [math.cos(r) for r in radians]).max() < 1e-14
    assert np.abs(sin - [math.sin(r) for r in radians]).max() < 1e-14
    cos, sin = cos_sin([0, 90, 180, 270, 360, -90])
    assert cos.tolist() == [1, 0, -1, 0, 1, 0]
    assert sin.tolist() == [0, 1, 0, -1, 0, -1]


def test_trigonometry_stays_what_it_is() -> None:
    cos, sin = cos_sin([10.0, 123.456])
    assert [float(x).hex() for x in (*cos, *sin)] == [
        "0x1.f838b8c811c17p-1",
        "-0x1.1a43870d371f9p-1",
        "0x1.63a1a7e0b738ap-3",
        "0x1.ab2a9b25a9ab9p-1",
    ]


def test_turns_are_rotations() -> None:
    x, y, z = params.turned(*(np.array([30.0, -75.0]), np.array([20.0, 5.0]), np.array([-40.0, 160.0])))
    for a in (x, y, z):
        assert params.product(a, a) == pytest.approx([1, 1])
    for a, b in zip(params.cross(x, y), z, strict=True):
        assert a == pytest.approx(b)


def test_colours() -> None:
    red, green, blue = params.colour(np.array([0.0, 120.0, -120.0]), np.ones(3), np.ones(3))
    assert np.stack([red, green, blue], 1).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def distances(shape: int, points: np.ndarray) -> np.ndarray:
    """The shape's distance at each point, by the functions the kernel is made of, run as plain Python on arrays."""
    import numba

    from spurgen.render.image.sdf.shapes import distance

    if not hasattr(distances, "compiled"):

        @numba.njit
        def many(shape, points, out):  # type: ignore[no-untyped-def]
            for i in range(len(points)):
                out[i] = distance(shape, numba.float32(0), points[i, 0], points[i, 1], points[i, 2])

        distances.compiled = many  # type: ignore[attr-defined]
    out = np.empty(len(points), np.float32)
    distances.compiled(shape, points, out)  # type: ignore[attr-defined]
    return out


@pytest.mark.parametrize("name", SHAPES)
def test_hulls_hold_their_shapes(name: str) -> None:
    line = np.linspace(-1.1, 1.1, 56, dtype=np.float32)
    points = np.stack(np.meshgrid(line, line, line), -1).reshape(-1, 3)
    away = distances(SHAPES.index(name), points)
    solid = points[away <= 0]
    bounds = np.array(hulls.bounds(name))
    assert len(solid) > 200
    assert (np.abs(solid - bounds[:3]) <= bounds[3:] + 0.01).all()
    assert np.sqrt((solid**2).sum(1)).max() <= hulls.reach(name) + 0.01
    assert hulls.reach(name) < 1.02
    # Never further than the truth: a step of that length cannot jump through the surface.
    nearest = np.sqrt(((points[away > 0.25][::701, None] - solid[None]) ** 2).sum(2)).min(1)
    assert (away[away > 0.25][::701] <= nearest + 0.02).all()


def test_declarations_fit_together() -> None:
    assert set(hulls.HULLS) == set(SHAPES)
    assert set(params.MATERIALS) == set(MATERIALS)
    assert set(params.FLOOR_COLOURS) == set(FLOORS)
    assert set(params.SHADOW_HARDNESS) == set(SHADOWS)
    assert len({trait.name for trait in TRAITS}) == len(TRAITS)
    assert len(CLASSES) >= 16 and len(DEFAULT_CLASSES) == 10
    assert all(len(c.words) >= 3 and c.traits["shape"] in SHAPES for c in CLASSES.values())
    words = [word for c in CLASSES.values() for word in c.words]
    assert len(words) == len(set(words))
    assert len(background.CHANNEL.values) >= 12 and len(hue.CHANNEL.values) >= 12 and len(light.CHANNEL.values) >= 6
