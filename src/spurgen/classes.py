"""The objects that can be labels: what they are called (the plain word first) and the shape that makes them.

The first ten are the default classes. They were chosen because a small network tells them apart in every pose that
the image modality allows (`bench/recognisable.py`).
"""

from __future__ import annotations

from spurgen.parts import Class


def shaped(shape: str, *words: str) -> Class:
    """A class that is made by a shape alone."""
    return Class(words, {"shape": shape})


CLASSES: dict[str, Class] = {
    "mug": shaped("mug", "mug", "cup", "tankard"),
    "heart": shaped("heart", "heart", "valentine", "love heart"),
    "star": shaped("star", "star", "five-pointed star", "pentagram"),
    "chair": shaped("chair", "chair", "seat", "dining chair"),
    "dumbbell": shaped("dumbbell", "dumbbell", "weight", "barbell"),
    "mushroom": shaped("mushroom", "mushroom", "toadstool", "fungus"),
    "hourglass": shaped("hourglass", "hourglass", "sandglass", "egg timer"),
    "arrow": shaped("arrow", "arrow", "pointer", "direction sign"),
    "torus": shaped("torus", "torus", "doughnut", "ring"),
    "jack": shaped("jack", "jack", "six-armed cross", "caltrop"),
    "gear": shaped("gear", "gear", "cogwheel", "cog"),
    "crescent": shaped("crescent", "crescent", "half moon", "sickle"),
    "arch": shaped("arch", "arch", "archway", "gateway"),
    "cone": shaped("cone", "cone", "traffic cone", "pylon"),
    "pawn": shaped("pawn", "pawn", "chess piece", "game piece"),
    "house": shaped("house", "house", "cottage", "hut"),
    "hammer": shaped("hammer", "hammer", "mallet", "sledge"),
    "key": shaped("key", "key", "door key", "latchkey"),
    "snowman": shaped("snowman", "snowman", "snow figure", "snow sculpture"),
    "bottle": shaped("bottle", "bottle", "flask", "flagon"),
    "cactus": shaped("cactus", "cactus", "saguaro", "desert plant"),
    "cube": shaped("cube", "cube", "box", "block"),
}
DEFAULT_CLASSES: tuple[str, ...] = tuple(CLASSES)[:10]
