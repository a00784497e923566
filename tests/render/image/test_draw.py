"""Pictures are exact: the same bytes whatever draws them, and only the pixels change that a channel may touch."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from pydantic import ValidationError

from spurgen.channels import background, companion, floor, frame, hue, material, watermark
from spurgen.errors import SpurgenError
from spurgen.parts import Coded, Rows
from spurgen.render.image import MODALITY, Options, draw
from spurgen.render.image.picture import Picture, may_change
from spurgen.render.image.sdf import cpu
from spurgen.render.image.traits import SHAPES
from tests.render.image.rows import everything, make_rows


def digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()[:16]


def changed(rows: Rows, **given: object) -> Rows:
    """The same rows with some traits set."""
    traits = dict(rows.traits)
    for name, value in given.items():
        old = traits[name]
        if isinstance(old, Coded):
            traits[name] = Coded(np.full(len(rows), old.names.index(str(value)), np.int32), old.names)
        else:
            traits[name] = np.full(len(rows), value, np.float32)
    return Rows(rows.row_id, traits, rows.classes, rows.class_names, rows.label, rows.channels)


@pytest.mark.parametrize(("size", "golden"), [(64, "47b352a7d858d167"), (100, "7bc346159cefe618")])
def test_pictures_stay_what_they_are(size: int, golden: str) -> None:
    assert digest(draw(everything(48, seed=5), Options(size_px=size))) == golden


def test_truth_stays_what_it_is() -> None:
    picture = draw(everything(24, seed=6), truth=True)
    assert [digest(part) for part in picture] == [
        "c75777ee43f4d136",
        "b13769637d0130b8",
        "71b6c7e31bbb5c24",
        "b634b429aa8d1d02",
        "cc5959055716f214",
        "594849e840d67ff5",
    ]


@pytest.mark.parametrize("size", [32, 33, 100])
def test_lanes_and_plain_numbers_agree(size: int) -> None:
    rows = everything(24, seed=size, shape=SHAPES)
    lanes = cpu.draw_rows(rows.traits, size, 1, True)
    plain = cpu.draw_rows(rows.traits, size, 1, True, cpu.reference())
    for a, b in zip(lanes, plain, strict=True):
        assert np.array_equal(a, b)


def test_every_size_is_drawn_to_the_last_pixel() -> None:
    rows = make_rows(2, seed=1, sensor="clean")
    for size in (32, 33, 100, 511, 512):
        picture = draw(rows, Options(size_px=size), truth=True)
        assert picture.image.shape == (2, size, size, 3)
        assert picture.image.reshape(2, -1).std(1).min() > 5
        assert (picture.depth > 0).all()


def test_workers_do_not_matter() -> None:
    rows = everything(37, seed=2)
    first = draw(rows, workers=1)
    assert all(np.array_equal(first, draw(rows, workers=w)) for w in (2, 5))
    assert np.array_equal(first[11:13], draw(everything(37, seed=2), truth=True).image[11:13])


def test_rows_do_not_matter_to_each_other() -> None:
    rows = everything(9, seed=3)
    one = Rows(rows.row_id[4:5], cpu.cut(rows.traits, slice(4, 5)), (), (), rows.label[4:5], {})
    assert np.array_equal(draw(one)[0], draw(rows)[4])


def test_no_rows() -> None:
    rows = everything(1)
    empty = Rows(rows.row_id[:0], cpu.cut(rows.traits, slice(0, 0)), (), (), rows.label[:0], {})
    assert draw(empty).shape == (0, 64, 64, 3)
    assert draw(empty, truth=True).depth.shape == (0, 64, 64)


def test_shapes_look_different() -> None:
    rows = make_rows(1, seed=4)
    masks = [draw(changed(rows, shape=shape), truth=True).mask[0] for shape in SHAPES]
    differ = [(a > 127) ^ (b > 127) for i, a in enumerate(masks) for b in masks[:i]]
    assert min(int(d.sum()) for d in differ) > 40


def test_masks_boxes_and_depth_agree() -> None:
    picture = draw(everything(32, seed=7), Options(size_px=96), truth=True)
    for mask, box in ((picture.mask, picture.box), (picture.companion_mask, picture.companion_box)):
        for one, (x0, y0, x1, y1) in zip(mask, box, strict=True):
            assert (one > 0).any() == (x0 >= 0)
            inside = np.zeros_like(one, bool)
            inside[y0:y1, x0:x1] = x0 >= 0
            assert not one[~inside].any()
    clean = draw(make_rows(16, seed=8), truth=True)
    share = (clean.mask > 127).mean((1, 2))
    assert share.min() > 0.03 and share.max() < 0.5
    for depth, mask in zip(clean.depth, clean.mask, strict=True):
        assert depth[mask == 255].max() < depth[mask == 0].max()


def test_the_object_stays_in_the_picture() -> None:
    picture = draw(everything(200, seed=9, frame="none", watermark="none", sensor="clean"), truth=True)
    rim = np.concatenate([picture.mask[:, 0], picture.mask[:, -1], picture.mask[:, :, 0], picture.mask[:, :, -1]], 1)
    assert (rim > 127).any(1).mean() < 0.02


CHANNELS = [background, companion, floor, frame, hue, material, watermark]


@pytest.mark.parametrize("channel", [module.CHANNEL for module in CHANNELS], ids=lambda channel: channel.name)
def test_channels_touch_only_what_they_say(channel: object) -> None:
    values = list(channel.values.values())  # type: ignore[attr-defined]
    rows = everything(60, seed=10)
    before: Picture = draw(changed(rows, **values[0].traits), truth=True)
    differs = np.zeros(60, bool)
    for value in values[1:]:
        after: Picture = draw(changed(rows, **value.traits), truth=True)
        moved = (before.image != after.image).any(3)
        region = may_change(channel.touches["image"], before.mask, after.mask)  # type: ignore[attr-defined]
        assert not (moved & ~region).any()
        differs |= moved.any((1, 2))
    assert differs.mean() > 0.9


def test_melted_shapes_are_balls() -> None:
    rows = make_rows(2, seed=11)
    chair, mug = (draw(changed(rows, shape=shape, shape_melt=1), truth=True).mask for shape in ("chair", "mug"))
    assert ((chair > 127) ^ (mug > 127)).sum() <= 4


def test_bad_options_and_devices() -> None:
    for wrong in ({"size_px": 31}, {"size_px": 513}, {"engine": "sfd"}, {"shadows": True}):
        with pytest.raises(ValidationError):
            Options(**wrong)  # type: ignore[arg-type]
    with pytest.raises(SpurgenError, match="'cpu' or 'cuda'"):
        draw(make_rows(1), device="tpu")


def test_content_is_the_pixels() -> None:
    batch = draw(make_rows(2))
    assert MODALITY.content(batch, 1) == batch[1].tobytes()


def test_cache_key_follows_the_sources() -> None:
    assert len(cpu.source_digest()) == 32
    assert cpu.source_digest() in cpu._tiles(cpu.source_digest()).__closure__[0].cell_contents
