"""The same scenes drawn by SpurGen and by Blender's Cycles, in one run: pictures per second and their ratio.

pip install bpy==4.5.15 "numpy>=2"
python bench/blender.py [--size 224] [--count 12] [--samples 4] [--out DIR] [--json FILE]

Cycles runs on the CPU with few samples and its denoiser, which is how one would draw a data set with it. Classes whose
solids Blender has at hand are drawn: torus, cone and cube; wall, sun and camera come from the same latents.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spurgen.latents.sample import Plan
from spurgen.render import draw
from spurgen.spec import load

CLASSES = ["torus", "cone", "cube"]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Blender writes a line per picture straight to the file descriptor."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def prepare(bpy: Any, size_px: int, samples: int) -> dict[str, Any]:
    """An empty scene with wall, sun, camera, and one hidden object per class."""
    from mathutils import Matrix

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    render, cycles = scene.render, scene.cycles
    render.engine, cycles.device = "CYCLES", "CPU"
    render.resolution_x = render.resolution_y = size_px
    render.resolution_percentage = 100
    render.use_persistent_data = True
    scene.view_settings.view_transform = "Standard"
    cycles.samples, cycles.use_denoising, cycles.use_adaptive_sampling, cycles.max_bounces = samples, True, False, 2
    world = bpy.data.worlds.new("world")
    scene.world, world.use_nodes = world, True
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.25
    paint = bpy.data.materials.new("object")
    paint.use_nodes = True
    wall, checks = bpy.data.materials.new("wall"), None
    wall.use_nodes = True
    checks = wall.node_tree.nodes.new("ShaderNodeTexChecker")
    wall.node_tree.links.new(checks.outputs["Color"], wall.node_tree.nodes["Principled BSDF"].inputs["Base Color"])
    checks.inputs["Scale"].default_value = 30
    bpy.ops.mesh.primitive_plane_add(size=30, location=(0, 0, -1.3))
    bpy.context.object.data.materials.append(wall)
    add = bpy.ops.mesh
    objects = {}
    for name, make in {
        "torus": lambda: add.primitive_torus_add(major_radius=0.5, minor_radius=0.2),
        "cone": lambda: add.primitive_cone_add(vertices=64, radius1=0.6, depth=1.1),
        "cube": lambda: add.primitive_cube_add(size=0.9),
    }.items():
        make()
        objects[name] = bpy.context.object
        objects[name].data.transform(Matrix.Rotation(-math.pi / 2, 4, "X"))  # Blender's solids stand along z
        objects[name].data.materials.append(paint)
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.angle, sun.data.energy = 0.1, 3.0
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.sensor_width, camera.data.lens = 0.72, 1.0
    scene.collection.objects.link(sun)
    scene.collection.objects.link(camera)
    scene.camera = camera
    colour = paint.node_tree.nodes["Principled BSDF"].inputs["Base Color"]
    return {"scene": scene, "objects": objects, "sun": sun, "camera": camera, "colour": colour, "checks": checks}


def pose(stage: dict[str, Any], row: dict[str, Any]) -> None:
    """Put one row of latents on the stage."""
    import colorsys

    from mathutils import Euler, Vector

    for name, thing in stage["objects"].items():
        thing.hide_render = name != row["label"]
    angles = [math.radians(row[f"pose_{axis}_degrees"]) for axis in ("pitch", "yaw", "roll")]
    shown = stage["objects"][row["label"]]
    shown.rotation_euler, shown.scale = Euler(angles), (row["object_scale"],) * 3
    stage["colour"].default_value = (*colorsys.hsv_to_rgb(row["hue_degrees"] / 360, row["saturation"], row["value"]), 1)
    for slot, hue in (("Color1", "background_hue_degrees"), ("Color2", "background_second_hue_degrees")):
        stage["checks"].inputs[slot].default_value = (*colorsys.hsv_to_rgb(row[hue] / 360, 0.3, 0.7), 1)
    away = [math.radians(row[f"light_{angle}_degrees"]) for angle in ("azimuth", "elevation")]
    stage["sun"].rotation_euler = facing(direction(*away))
    seen_from = [math.radians(row[f"camera_{angle}_degrees"]) for angle in ("azimuth", "elevation")]
    stage["camera"].location = Vector(direction(*seen_from)) * row["camera_distance"]
    stage["camera"].rotation_euler = facing(direction(*seen_from))


def direction(azimuth: float, elevation: float) -> Any:
    """A unit vector; the wall lies toward -z, up is y."""
    from mathutils import Vector

    flat = math.cos(elevation)
    return Vector((math.sin(azimuth) * flat, math.sin(elevation), math.cos(azimuth) * flat))


def facing(back: Any) -> Any:
    """The turn of a camera or sun that looks from `back` toward the middle, with y upward."""
    from mathutils import Matrix, Vector

    right = Vector((0, 1, 0)).cross(back).normalized()
    return Matrix((right, back.cross(right), back)).transposed().to_euler()


def main() -> None:
    """Draw with both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path(tempfile.mkdtemp()))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    try:
        import bpy
    except ImportError:
        sys.exit("Blender's module is not installed: pip install bpy==4.5.15 (Python 3.11)")
    overrides = [
        f"classes={json.dumps(CLASSES)}",
        f"image.size_px={options.size}",
        "modalities=['image']",
        "channels={}",
    ]
    overrides += [
        "environments={even={}}",
        "splits={train={share=1.0,environments=['even']}}",
        "nuisances.background_texture='checker'",
    ]
    spec = load("quick/v1", overrides)
    plan = Plan(spec)
    table = plan.table(range(512))
    draw(table, spec, "image")
    began = time.perf_counter()
    draw(table, spec, "image")
    ours = len(table) / (time.perf_counter() - began)
    stage = prepare(bpy, options.size, options.samples)
    seconds = []
    for row in table.slice(0, options.count).to_pylist():
        pose(stage, row)
        stage["scene"].render.filepath = str(options.out / f"{row['row_id']:03d}.png")
        began = time.perf_counter()
        with silence():
            bpy.ops.render.render(write_still=True)
        seconds.append(time.perf_counter() - began)
    theirs = 1 / sorted(seconds[1:])[len(seconds[1:]) // 2]
    ratio = ours / theirs
    print(f"pictures per second at {options.size}²: SpurGen {ours:,.0f}, Cycles {theirs:.2f}, ratio {ratio:,.0f}")
    if options.json:
        found = {
            "size_px": options.size,
            "spurgen": ours,
            "cycles": theirs,
            "blender": bpy.app.version_string,
            "ratio": ours / theirs,
        }
        options.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
