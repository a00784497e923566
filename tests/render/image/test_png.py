"""The PNG coder: lossless, standard, the same bytes whatever the number of threads, never much above raw."""

import hashlib
import io
import struct
import subprocess
import sys
import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from spurgen.errors import DataError
from spurgen.render.image import png

KINDS = ("flat", "noise", "smooth", "stripes", "few colours", "single pixel", "skewed")


def drawn(kind, n, height, width, channels, seed=0):
    rng = np.random.default_rng(seed)
    shape = (n, height, width, 3) if channels == 3 else (n, height, width)
    if kind == "flat":
        return np.full(shape, rng.integers(256), np.uint8)
    if kind == "noise":
        return rng.integers(0, 256, shape, dtype=np.uint8)
    if kind == "smooth":
        y, x = np.mgrid[:height, :width]
        plane = (40 + 0.7 * y + 0.4 * x + 30 * np.sin(x / 9)).astype(np.uint8)
        return np.broadcast_to(plane[..., None] if channels == 3 else plane, shape).copy()
    if kind == "stripes":
        stripes = np.where(np.arange(width) // 5 % 2, 200, 30).astype(np.uint8)
        return np.broadcast_to(stripes[:, None] if channels == 3 else stripes, shape).copy()
    if kind == "few colours":
        return rng.choice(np.array([0, 7, 255], np.uint8), shape)
    if kind == "single pixel":
        out = np.zeros(shape, np.uint8)
        out.reshape(n, -1)[:, -1] = 255
        return out
    # Frequencies that fall by half from symbol to symbol ask for the longest codes a plain Huffman tree can make.
    return np.minimum(rng.geometric(0.5, shape) * 3 + rng.integers(0, 2, shape), 255).astype(np.uint8)


def raw_limit(pictures):
    size = pictures[0].nbytes + pictures.shape[1]
    return size + 5 * (size // 65535 + 1) + 80


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(1, 1), (1, 2), (2, 1), (1, 7), (7, 1), (3, 5), (17, 33), (64, 64), (300, 512)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_comes_back_through_pillow(kind, size, channels):
    pictures = drawn(kind, 3, *size, channels)
    blobs = png.encode(pictures)
    assert max(map(len, blobs)) <= raw_limit(pictures)
    for blob, picture in zip(blobs, pictures, strict=True):
        with Image.open(io.BytesIO(blob)) as opened:
            assert opened.format == "PNG"
            opened.verify()
        with Image.open(io.BytesIO(blob)) as opened:
            assert opened.mode == ("RGB" if channels == 3 else "L")
            np.testing.assert_array_equal(np.asarray(opened), picture)
    np.testing.assert_array_equal(png.decode(blobs), pictures)


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    channels=st.sampled_from([1, 3]),
    seed=st.integers(0, 2**32 - 1),
    patch=st.integers(0, 70),
)
def test_any_picture_comes_back(kind, height, width, channels, seed, patch):
    pictures = drawn(kind, 2, height, width, channels, seed)
    pictures[:, :patch, : patch // 2] = drawn("noise", 2, height, width, channels, seed)[:, :patch, : patch // 2]
    blobs = png.encode(pictures)
    np.testing.assert_array_equal(png.decode(blobs), pictures)
    assert max(map(len, blobs)) <= raw_limit(pictures)


def test_chunks_and_checksums_are_those_of_the_standard():
    picture = drawn("smooth", 1, 40, 30, 3)
    (blob,) = png.encode(picture)
    assert blob[:8] == b"\x89PNG\r\n\x1a\n"
    at, kinds, data = 8, [], b""
    while at < len(blob):
        (length,) = struct.unpack(">I", blob[at : at + 4])
        kind, body = blob[at + 4 : at + 8], blob[at + 8 : at + 8 + length]
        assert struct.unpack(">I", blob[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        kinds.append(kind)
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(data) + unpacker.flush()  # checks Adler-32
    assert unpacker.eof
    assert not unpacker.unused_data
    assert len(raw) == 40 * (30 * 3 + 1)


def test_bytes_do_not_depend_on_threads_or_neighbours():
    pictures = np.concatenate([drawn(kind, 7, 96, 96, 3) for kind in KINDS])
    blobs = png.encode(pictures, workers=1)
    assert png.encode(pictures, workers=3) == blobs
    assert [png.encode(picture[None])[0] for picture in pictures] == blobs
    turned = np.asfortranarray(pictures)
    assert png.encode(turned) == blobs


def test_bytes_are_the_same_on_every_machine():
    pictures = np.concatenate([drawn(kind, 1, 50, 60, 3) for kind in ("flat", "stripes", "single pixel")])
    x = np.arange(50 * 60 * 3, dtype=np.uint64)
    hashed = ((x * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(59)).astype(np.uint8).reshape(1, 50, 60, 3)
    digest = hashlib.sha256(b"".join(png.encode(np.concatenate([pictures, hashed])))).hexdigest()
    assert digest == "ae7272a8b6770204829cc19a1d8ec06fcb96464afc0a661fbbdd7ba1fdf90b4e"


def test_codes_of_unlimited_length_are_cut_to_what_deflate_allows():
    # Fibonacci frequencies make the deepest Huffman tree: 25 symbols would need codes of 24 bits.
    counts = [1, 1]
    while sum(counts) < 200_000:
        counts.append(counts[-1] + counts[-2])
    rows = np.repeat(np.arange(len(counts), dtype=np.uint8) * 9, counts)
    np.random.default_rng(0).shuffle(rows)
    picture = np.cumsum(rows[: 400 * 400].reshape(400, 400), axis=0, dtype=np.uint8)[None]
    np.testing.assert_array_equal(png.decode(png.encode(picture)), picture)


def test_size_is_close_to_what_pillow_writes():
    pictures = drawn("smooth", 1, 224, 224, 3)
    stream = io.BytesIO()
    Image.fromarray(pictures[0]).save(stream, "png", compress_level=1)
    assert len(png.encode(pictures)[0]) < 1.5 * len(stream.getvalue())


def test_what_is_not_pictures_is_refused_in_a_sentence():
    for wrong in (np.zeros((2, 4, 4, 4), np.uint8), np.zeros((2, 4, 4, 3), np.float32), np.zeros((1, 0, 3), np.uint8)):
        with pytest.raises(DataError, match="pictures must be uint8"):
            png.encode(wrong)
    with pytest.raises(DataError, match="not a picture"):
        png.decode([b"nothing"])
    with pytest.raises(DataError, match="no pictures"):
        png.decode([])
    with pytest.raises(DataError, match="all must be the same"):
        png.decode(png.encode(np.zeros((1, 4, 4), np.uint8)) + png.encode(np.zeros((1, 5, 4), np.uint8)))


def test_a_column_of_a_table_is_decoded_too():
    pictures = drawn("stripes", 3, 20, 20, 3)
    column = pa.array(png.encode(pictures), pa.binary())
    np.testing.assert_array_equal(png.decode(column), pictures)


def test_no_pictures_make_no_bytes():
    assert png.encode(np.zeros((0, 8, 8, 3), np.uint8)) == []


def test_works_where_no_cache_can_be_written():
    program = (
        "from numba.core import caching\n"
        "caching.CacheImpl._locator_classes = []\n"  # what numba finds when no directory can be written
        "import numpy as np\n"
        "from spurgen.render.image import png\n"
        "print(len(png.encode(np.zeros((1, 2, 2), np.uint8))) == 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
