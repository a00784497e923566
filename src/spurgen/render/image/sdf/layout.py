"""Where each parameter of a picture stands in its row of float32 numbers; packing.py writes them, the kernel reads.

Colours are linear light. "Object frame" means: the object at the origin, upright, with scale 1.
"""

from __future__ import annotations

# The camera. FORWARD, RIGHT, UP span the picture; SHIFT moves it so that the object comes to its place.
EYE, FORWARD, RIGHT, UP, SHIFT_X, SHIFT_Y = 0, 3, 6, 9, 12, 13
# The light: direction toward it, brightness, how sharp shadows are (0: there are none).
LIGHT, INTENSITY, HARDNESS = 14, 17, 18
# The wall. ACROSS and ALONG: cosine and sine of the pattern's angle, times its frequency.
WALL_KIND, WALL_ACROSS, WALL_ALONG, WALL_FREQUENCY, WALL_U, WALL_V, SEED = 19, 20, 21, 22, 23, 24, 25
WALL_BRIGHT, WALL_DARK = 26, 29
FLOOR_KIND, FLOOR_HEIGHT, FLOOR_BRIGHT, FLOOR_DARK = 32, 33, 34, 37
WATERMARK, FRAME, SENSOR, SENSOR_SEED = 40, 41, 42, 43

# Two bodies: the object and its companion. Each has a block of BODY_SIZE numbers.
OBJECT, BODY_SIZE = 44, 60
COMPANION = OBJECT + BODY_SIZE
PARAMETERS = COMPANION + BODY_SIZE
# Within a block. SHAPE is -1 where there is no such body. Vectors named B_* are in the object frame.
SHAPE, MELT, SCALE, CENTRE, REACH = 0, 1, 2, 3, 6
B_EYE, B_FORWARD, B_RIGHT, B_UP, B_LIGHT, B_SKY = 7, 10, 13, 16, 19, 22
TURN = 25  # nine numbers: world -> object frame, without the scale
BOX_CENTRE, BOX_HALF = 45, 48  # the box that holds the shape
COLOUR, AMBIENT, DIFFUSE, SPECULAR, SQUARINGS, TINT, RIM, MIRROR, GLOW = 34, 37, 38, 39, 40, 41, 42, 43, 44
# Rectangles of the picture (left, right, bottom, top, in u and v) outside which a body or its shadow cannot be.
SEEN_IN, SHADOW_IN = 51, 55
