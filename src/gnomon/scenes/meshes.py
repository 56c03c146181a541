"""Things as triangle meshes: a second look of the same scenes, from a pack that is fetched.

The models come from Debian's sweethome3d-furniture (`gnomon data get things`). Each is stretched to
the size of its thing, so that all facts stay as they are. Rays are cast by Embree, in single
precision: pixels may differ in the last bit between machines, which those of primitives never do.
"""

import zipfile
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.downloads.catalogue import folder, locate, sources
from gnomon.downloads.packages import files_in
from gnomon.errors import DataError, importing
from gnomon.files import package_data, read_yaml
from gnomon.scenes.solids import Array, Axes, Hit
from gnomon.scenes.things import Triple

SOURCE = "things"
CATALOGUE = "PluginFurnitureCatalog.properties"
LARGEST_MODEL = 32 * 2**20  # bytes of an OBJ file
PLAIN: Triple = (0.5, 0.5, 0.5)  # for what has no colour
CREDITS = {
    "KatorLegaz": "Andrew Kator and Jennifer Legaz, CC BY 3.0",
    "Reallusion": "Reallusion, CC BY 3.0",
    "Scopia": "Scopia, CC BY 3.0",
    "BlendSwap-CC-BY": "contributors of Blend Swap, CC BY 3.0",
    "BlendSwap-CC-0": "contributors of Blend Swap, CC0",
}


class MeshEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"source": "from"}):
    """One line of data/space/meshes.yaml."""

    source: str
    model: str
    turn: float = 0.0


class Mesh(NamedTuple):
    """The triangles of one colour, within the cube from -1 to 1 of the whole model."""

    colour: Triple
    caster: Any  # of Embree
    triangles: NDArray[np.float32]  # [n, 3 corners, 3 axes]


@cache
def entries() -> dict[str, MeshEntry]:
    """Which model stands for which thing."""
    table = read_yaml(package_data("space/meshes.yaml"))
    return msgspec.convert(table, dict[str, MeshEntry])


def credit(things: set[str]) -> str:
    """Who made the models of some things, for every picture that is made of them.

    >>> credit({"dog"})
    'Models: dog by Scopia, CC BY 3.0; through sweethome3d-furniture; stretched and recoloured.'
    """
    known = entries()
    named = []
    for thing in sorted(things & set(known)):
        named.append(f"{thing} by {CREDITS[known[thing].source]}")
    if not named:
        return ""
    listed = "; ".join(named)
    return f"Models: {listed}; through sweethome3d-furniture; stretched and recoloured."


@lru_cache(maxsize=256)
def mesh_of(thing: str) -> tuple[Mesh, ...]:
    """The mesh of a thing, a part for each of its colours; empty if there is none."""
    if thing not in entries():
        return ()
    trimesh, scenes, construction = _libraries()
    file = models() / f"{thing.replace(' ', '-')}.obj"
    loaded = trimesh.load(file, process=False, force="scene", skip_materials=False)
    parts = list(loaded.geometry.values())
    if not parts:
        raise DataError("the model is empty.", "Fetch the pack again.", file=file)

    every = [_upright(part.triangles, entries()[thing].turn) for part in parts]
    lower = np.min([each.min(axis=(0, 1)) for each in every], axis=0)
    upper = np.max([each.max(axis=(0, 1)) for each in every], axis=0)
    middle, half = (lower + upper) / 2, np.maximum((upper - lower) / 2, 1e-6)
    found = []
    for part, triangles in zip(parts, every, strict=True):
        unit = ((triangles - middle) / half).astype(np.float32)
        scene = scenes.EmbreeScene()
        construction.TriangleMesh(scene, unit)
        found.append(Mesh(_colour(part), scene, unit))
    return tuple(found)


def meet_mesh(mesh: Mesh, origin: Axes, direction: Axes, nearest: float) -> Hit:
    """The first meeting of each ray with a mesh that is farther off than `nearest`."""
    shape = np.broadcast_shapes(direction[0].shape, np.shape(origin[0]))
    way = np.stack([np.broadcast_to(axis, shape).ravel() for axis in direction], axis=1)
    start = np.stack([np.broadcast_to(axis, shape).ravel() for axis in origin], axis=1)
    start = start + nearest * way
    hit = mesh.caster.run(start.astype(np.float32), way.astype(np.float32), output=1)
    met = hit["primID"] >= 0
    kind = direction[0].dtype
    distance = np.where(met, hit["tfar"] + nearest, np.inf).astype(kind).reshape(shape)
    normal: list[Array] = []
    for axis in range(3):
        normal.append(np.where(met, hit["Ng"][:, axis], 0).astype(kind).reshape(shape))
    return Hit(distance, (normal[0], normal[1], normal[2]))


def _upright(triangles: NDArray[np.float64], turn: float) -> NDArray[np.float64]:
    """From y up and the front to +z, as the models are, to z up and the front to -y."""
    x, y, z = triangles[..., 0], triangles[..., 1], triangles[..., 2]
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    return np.stack([c * x + s * z, s * x - c * z, y], axis=-1)


def _colour(part: Any) -> Triple:
    """The diffuse colour of a part, in linear light."""
    material = getattr(part.visual, "material", None)
    diffuse = getattr(material, "diffuse", None)
    if diffuse is None:
        return PLAIN
    red, green, blue = ((float(value) / 255) ** 2.2 for value in diffuse[:3])
    return red, green, blue


def _libraries() -> tuple[Any, Any, Any]:
    with importing("Drawing meshes", "meshes"):
        import trimesh
        from embreex import mesh_construction, rtcore_scene
    return trimesh, rtcore_scene, mesh_construction


def models() -> Path:
    """The folder of the models that are used, unpacked from the fetched pack when first needed."""
    target = folder(SOURCE) / "models"
    if target.is_dir():
        return target
    package = locate("", SOURCE) / sources()[SOURCE].files[0].path
    with TemporaryDirectory(dir=folder(SOURCE)) as made:
        _unpack(package, Path(made))
        try:
            Path(made).replace(target)
        except OSError:  # another process was quicker
            if not target.is_dir():
                raise
        else:
            Path(made).mkdir()  # for TemporaryDirectory to remove
    return target


def _unpack(package: Path, target: Path) -> None:
    """Write the models that are used, with their materials and the terms, into a folder."""
    wanted: dict[str, dict[str, str]] = {}
    for thing, entry in entries().items():
        wanted.setdefault(entry.source, {})[thing] = entry.model
    for path, content in files_in(package):
        name = Path(path).name
        if name == "copyright":
            (target / "COPYRIGHT").write_bytes(content)
        elif name.removesuffix(".sh3f") in wanted:
            _unpack_catalogue(content, wanted[name.removesuffix(".sh3f")], target)
    missing = [t for t in entries() if not (target / f"{t.replace(' ', '-')}.obj").is_file()]
    if missing:
        shown = ", ".join(missing[:5])
        hint = "Remove the file and fetch it again."
        raise DataError(f"the package lacks models: {shown}.", hint, file=package)


def _unpack_catalogue(content: bytes, wanted: dict[str, str], target: Path) -> None:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        paths = _model_paths(archive.read(CATALOGUE).decode("latin-1"))
        for thing, model in wanted.items():
            path = paths.get(model, "")
            if path not in names or archive.getinfo(path).file_size > LARGEST_MODEL:
                continue
            plain = thing.replace(" ", "-")
            materials = _materials(archive, path, names)
            text = archive.read(path).decode("utf-8", "replace")
            lines = [line for line in text.splitlines() if not line.startswith("mtllib")]
            (target / f"{plain}.mtl").write_text(materials, encoding="utf-8")
            whole = "\n".join([f"mtllib {plain}.mtl", *lines, ""])
            (target / f"{plain}.obj").write_text(whole, encoding="utf-8")


def _model_paths(catalogue: str) -> dict[str, str]:
    """The file of each model by the last part of its id."""
    ids: dict[str, str] = {}
    paths: dict[str, str] = {}
    for line in catalogue.splitlines():
        key, _, value = line.partition("=")
        field, _, number = key.partition("#")
        if field == "id" and number:
            ids[number] = value.rpartition("#")[2]
        elif field == "model" and number in ids:
            paths[ids[number]] = value.lstrip("/")
    return paths


def _materials(archive: zipfile.ZipFile, path: str, names: set[str]) -> str:
    """The materials beside a model, without their textures."""
    home = path.rpartition("/")[0]
    kept = []
    for name in sorted(names):
        if name.startswith(f"{home}/") and name.lower().endswith(".mtl"):
            text = archive.read(name).decode("utf-8", "replace")
            kept += [line for line in text.splitlines() if not line.strip().startswith("map_")]
    return "\n".join([*kept, ""])
