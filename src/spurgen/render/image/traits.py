"""Everything a picture can show: the traits of the image modality, and how each varies when no channel sets it."""

from __future__ import annotations

from spurgen.parts import Choice, Constant, Integers, Trait, Uniform

# The order of these names is the code by which the kernels know them: add at the end, or raise the version.
SHAPES = (
    "mug", "heart", "star", "chair", "dumbbell", "mushroom", "hourglass", "arrow", "torus", "jack",
    "gear", "crescent", "arch", "cone", "pawn", "house", "hammer", "key", "snowman", "bottle", "cactus", "cube",
    "ball", "can",
)  # fmt: skip
TEXTURES = (
    "plain", "stripes", "checker", "dots", "clouds", "bricks", "waves", "rings", "grid", "zigzag", "diamonds",
    "crosses", "hexagons", "plaid", "scales",
)  # fmt: skip
FLOORS = ("none", "wood", "tiles", "concrete", "carpet")
SHADOWS = ("none", "soft", "hard")
MATERIALS = ("matte", "plastic", "glossy", "metal", "velvet", "glowing")
WATERMARKS = ("none", "circle", "square", "triangle", "star", "cross", "bars")
FRAMES = ("none", "white", "black", "gold", "dashed", "rounded", "film")
SENSORS = ("clean", "grain", "blur", "banding", "scanlines")
COMPANIONS = ("none", "ball", "cube", "cone", "torus", "can")


def text(name: str, default: str | None, names: tuple[str, ...], about: str) -> Trait:
    """A trait with a name for a value; without a default every name is equally likely."""
    return Trait(
        name,
        Choice(names) if default is None else Constant(default),
        about,
        names=names,
    )


def number(name: str, low: float, high: float, bounds: tuple[float, float], about: str) -> Trait:
    """A trait with a number for a value."""
    return Trait(name, Constant(low) if low == high else Uniform(low, high), about, bounds=bounds)


ANGLE = (-360.0, 720.0)

TRAITS = (
    text("shape", "mug", SHAPES, "which object is shown: the core signal"),
    number(
        "shape_melt",
        0,
        0,
        (0, 1),
        "how far the shape is melted into a ball: noise on the core signal",
    ),
    number("pose_yaw_degrees", -50, 50, ANGLE, "turn of the object about its vertical axis"),
    number("pose_pitch_degrees", -18, 18, ANGLE, "tilt of the object toward the viewer"),
    number("pose_roll_degrees", -18, 18, ANGLE, "tilt of the object to the side"),
    number(
        "object_scale",
        0.85,
        1.05,
        (0.2, 1.4),
        "size of the object; 1 fills about half the picture's width",
    ),
    number("object_scale_jitter", -0.03, 0.03, (-0.5, 0.5), "added to object_scale"),
    number(
        "object_x",
        -0.12,
        0.12,
        (-1, 1),
        "where the object is: -1 the left edge of the picture, 1 the right",
    ),
    number(
        "object_y",
        -0.12,
        0.12,
        (-1, 1),
        "where the object is: -1 the bottom edge of the picture, 1 the top",
    ),
    number("object_x_jitter", -0.05, 0.05, (-1, 1), "added to object_x"),
    number("object_y_jitter", -0.05, 0.05, (-1, 1), "added to object_y"),
    number(
        "camera_azimuth_degrees",
        -22,
        22,
        (-60, 60),
        "from how far to the right the camera looks",
    ),
    number(
        "camera_elevation_degrees",
        4,
        28,
        (-3, 60),
        "from how far above the camera looks",
    ),
    number(
        "camera_elevation_jitter_degrees",
        -3,
        3,
        (-10, 10),
        "added to camera_elevation_degrees",
    ),
    number(
        "camera_distance",
        4.3,
        4.9,
        (3.5, 8),
        "how far the camera stands from the object",
    ),
    number("hue_degrees", 0, 360, ANGLE, "hue of the object"),
    number("hue_jitter_degrees", -5, 5, ANGLE, "added to hue_degrees"),
    number("saturation", 0.7, 0.9, (0, 1), "how saturated the object's colour is"),
    number("value", 0.8, 0.96, (0, 1), "how light the object's colour is"),
    text("material", "plastic", MATERIALS, "how the object's surface answers to light"),
    text("background_texture", None, TEXTURES, "pattern of the wall behind the object"),
    number("background_angle_degrees", -30, 30, ANGLE, "turn of the wall's pattern"),
    number(
        "background_frequency",
        1.3,
        2.3,
        (0.3, 6),
        "repeats of the wall's pattern per unit of length",
    ),
    number("background_phase_x", 0, 1, (0, 1), "shift of the wall's pattern, in repeats"),
    number("background_phase_y", 0, 1, (0, 1), "shift of the wall's pattern, in repeats"),
    Trait(
        "background_seed",
        Integers(0, 65535),
        "seed of what is random in wall and floor",
        bounds=(0, 65535),
    ),
    number("background_hue_degrees", 0, 360, ANGLE, "hue of the wall's light colour"),
    number("background_second_hue_degrees", 0, 360, ANGLE, "hue of the wall's dark colour"),
    number(
        "background_saturation",
        0.1,
        0.36,
        (0, 1),
        "how saturated the wall's colours are",
    ),
    number(
        "light_azimuth_degrees",
        -50,
        50,
        (-75, 75),
        "how far from the right the light comes",
    ),
    number(
        "light_azimuth_jitter_degrees",
        -5,
        5,
        (-10, 10),
        "added to light_azimuth_degrees",
    ),
    number("light_elevation_degrees", 25, 60, (0, 80), "how far from above the light comes"),
    number(
        "light_elevation_jitter_degrees",
        -5,
        5,
        (-10, 10),
        "added to light_elevation_degrees",
    ),
    number("light_intensity", 0.7, 1.1, (0, 2), "how bright the light is"),
    number("light_intensity_jitter", -0.04, 0.04, (-0.5, 0.5), "added to light_intensity"),
    text("shadow", "soft", SHADOWS, "how shadows fall"),
    text("floor", "none", FLOORS, "what the object stands on"),
    text("watermark", "none", WATERMARKS, "glyph in the bottom right corner"),
    text("frame", "none", FRAMES, "border drawn around the picture"),
    text("sensor", "clean", SENSORS, "what the camera's sensor does to the picture"),
    Trait(
        "sensor_seed",
        Integers(0, 65535),
        "seed of the sensor's grain",
        bounds=(0, 65535),
    ),
    text(
        "companion",
        "none",
        COMPANIONS,
        "a second, small object beside and behind the first",
    ),
    number("companion_hue_degrees", 0, 360, ANGLE, "hue of the companion"),
    number(
        "companion_yaw_degrees",
        -180,
        180,
        ANGLE,
        "turn of the companion about its vertical axis",
    ),
    number(
        "companion_side",
        -1,
        1,
        (-1, 1),
        "left (below 0) or right of the object, where there is room for both",
    ),
)
