"""Vectors in space, as three float64 numbers, and their turns. Plain Python that compiled functions can call."""

from __future__ import annotations

from spurgen.render.image.sdf.trigonometry import exact


@exact
def product(a, b):
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@exact
def cross(a, b):
    """Cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@exact
def times(v, factor):
    """v, longer by a factor."""
    return v[0] * factor, v[1] * factor, v[2] * factor


@exact
def minus(a, b):
    """From b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@exact
def along(v, light, t):
    """v moved with the light, t of its lengths far."""
    return v[0] - light[0] * t, v[1] - light[1] * t, v[2] - light[2] * t


@exact
def direction(azimuth, elevation):
    """The unit vector with these (cosine, sine) of azimuth (0 toward the viewer, 90 to the right) and elevation."""
    ca, sa = azimuth
    ce, se = elevation
    return sa * ce, se, ca * ce


@exact
def turned(yaw, pitch, roll):
    """The axes of an object, seen from the world, after rolling, pitching and yawing it by these (cosine, sine)."""
    cy, sy = yaw
    cp, sp = pitch
    cr, sr = roll
    return (
        (cy * cr + sy * sp * sr, cp * sr, cy * sp * sr - sy * cr),
        (sy * sp * cr - cy * sr, cp * cr, sy * sr + cy * sp * cr),
        (sy * cp, -sp, cy * cp),
    )


@exact
def local(axes, v):
    """A vector of the world in the frame that has these axes."""
    return product(axes[0], v), product(axes[1], v), product(axes[2], v)
