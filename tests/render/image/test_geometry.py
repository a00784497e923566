"""Angles, hulls and declarations of the image modality."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from spurgen.channels import background, hue, light
from spurgen.classes import CLASSES, DEFAULT_CLASSES
from spurgen.render.image.sdf import hulls, packing, params, vectors
from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.columns import ANGLES, JITTERS, NUMBERS, SINES, gather, of
from spurgen.render.image.sdf.trigonometry import cos_sin
from spurgen.render.image.traits import FLOORS, MATERIALS, SHAPES, TRAITS
from tests.render.image.rows import everything


def test_trigonometry() -> None:
    degrees = np.concatenate([np.linspace(-800, 800, 20_001), np.arange(-720, 721, 15.0)])
    cos, sin = np.transpose([cos_sin(d) for d in degrees])
    radians = [math.radians(d) for d in degrees]
    assert np.abs(cos - [math.cos(r) for r in radians]).max() < 1e-14
    assert np.abs(sin - [math.sin(r) for r in radians]).max() < 1e-14
    cos, sin = np.transpose([cos_sin(d) for d in (0, 90, 180, 270, 360, -90)])
    assert cos.tolist() == [1, 0, -1, 0, 1, 0]
    assert sin.tolist() == [0, 1, 0, -1, 0, -1]
    assert not (np.signbit(cos) & (cos == 0)).any() and not (np.signbit(sin) & (sin == 0)).any()


def test_trigonometry_stays_what_it_is() -> None:
    (c, s), (c2, s2) = cos_sin(10.0), cos_sin(123.456)
    assert [float(x).hex() for x in (c, c2, s, s2)] == [
        "0x1.f838b8c811c17p-1",
        "-0x1.1a43870d371f9p-1",
        "0x1.63a1a7e0b738ap-3",
        "0x1.ab2a9b25a9ab9p-1",
    ]


def test_parameters_stay_what_they_are() -> None:
    """To the last bit, so that a picture does not depend on the machine that packed it."""
    packed = params.pack(everything(500, seed=12, shape=[*SHAPES] * 20 + [*SHAPES[:20]]).traits)
    assert hashlib.sha256(packed).hexdigest()[:16] == "069746d441881209"
    packed = params.pack(everything(101, seed=13, shape_melt=np.linspace(0, 1, 101)).traits)
    assert hashlib.sha256(packed).hexdigest()[:16] == "18092c06e8c54223"


def test_compiled_packing_is_the_python_it_is_compiled_from() -> None:
    rows = everything(30, seed=14, shape_melt=[0, 0.5] * 15)
    numbers, tables, out = gather(rows.traits), params.tables(), np.empty((30, at.PARAMETERS), np.float32)
    for i in range(30):
        own = numbers[:, i].copy()
        for j in range(ANGLES):
            own[j], own[SINES + j] = cos_sin(own[j])
        shapes, floors, materials = tables[1:]
        shape, companion = shapes[int(own[of.shape])], shapes[max(int(own[of.companion]), 0)]
        floor, material, plastic = (
            floors[int(own[of.floor])],
            materials[int(own[of.material])],
            materials[packing.PLASTIC],
        )
        packing.pack_picture(own, out[i], tables[0].reshape(-1), shape, companion, floor, material, plastic)
    assert np.array_equal(out.view(np.uint32), params.pack(rows.traits).view(np.uint32))


def test_turns_are_rotations() -> None:
    for angles in ((30.0, 20.0, -40.0), (-75.0, 5.0, 160.0)):
        x, y, z = vectors.turned(*map(cos_sin, angles))
        assert [vectors.product(a, a) for a in (x, y, z)] == pytest.approx([1, 1, 1])
        assert vectors.cross(x, y) == pytest.approx(z)


def test_colours() -> None:
    pure = [packing.colour(hue, 1.0, 1.0) for hue in (0.0, 120.0, -120.0)]
    assert pure == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


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
    assert list(params.MATERIALS)[packing.PLASTIC] == MATERIALS[packing.PLASTIC] == "plastic"
    textual = {trait.name: set(trait.names) for trait in TRAITS if trait.names}
    assert {name: set(table) for name, table in NUMBERS.items()} == textual
    assert {*of._fields, *JITTERS.values()} == {trait.name for trait in TRAITS}
    assert len({trait.name for trait in TRAITS}) == len(TRAITS)
    assert len(CLASSES) >= 16 and len(DEFAULT_CLASSES) == 10
    assert all(len(c.words) >= 3 and c.traits["shape"] in SHAPES for c in CLASSES.values())
    words = [word for c in CLASSES.values() for word in c.words]
    assert len(words) == len(set(words))
    assert len(background.CHANNEL.values) >= 12 and len(hue.CHANNEL.values) >= 12 and len(light.CHANNEL.values) >= 6
