"""A pack of models that is fetched once gives a second look of the same scenes."""

import hashlib
import io
import random
import tarfile
import zipfile

import msgspec
import numpy as np
import pytest

from gnomon.cli import main
from gnomon.downloads import catalogue
from gnomon.downloads import packages as debian
from gnomon.errors import DataError
from gnomon.scenes import meshes
from gnomon.scenes.pictures import draw
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.things import thing_named

VIEWER = Viewer(eye=(0, -4, 2), at=(0, 0, 0.4))
# a wedge whose sharp edge is its front (+z of the file), so that its direction can be seen
WEDGE = """usemtl red
v -1 0 1
v 1 0 1
v -1 0 -1
v 1 0 -1
v -1 2 -1
v 1 2 -1
f 1 2 4 3
f 1 2 6 5
f 3 4 6 5
f 1 3 5
f 2 4 6
"""
MATERIAL = "newmtl red\nKd 1 0 0\nmap_Kd red.jpg\n"


def sh3f(models: list[str]) -> bytes:
    kept = io.BytesIO()
    lines = []
    with zipfile.ZipFile(kept, "w") as archive:
        for number, model in enumerate(models, start=1):
            lines += [f"id#{number}=Some#{model}", f"model#{number}=/some/{model}/{model}.obj"]
            archive.writestr(f"some/{model}/{model}.obj", f"mtllib {model}.mtl\n{WEDGE}")
            archive.writestr(f"some/{model}/{model}.mtl", MATERIAL)
        archive.writestr(meshes.CATALOGUE, "\n".join(lines))
    return kept.getvalue()


def package(catalogues: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for path, content in catalogues.items():
            member = tarfile.TarInfo(f"./{path}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    found = debian.MAGIC
    for name, content in (("debian-binary", b"2.0\n"), ("data.tar.xz", data.getvalue())):
        found += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        found += content + b"\n" * (len(content) % 2)
    return found


def whole_pack() -> bytes:
    by_source: dict[str, list[str]] = {}
    for entry in meshes.entries().values():
        by_source.setdefault(entry.source, []).append(entry.model)
    files = {f"usr/share/furniture/{name}.sh3f": sh3f(m) for name, m in by_source.items()}
    return package({**files, "usr/share/doc/copyright": b"as it says"})


@pytest.fixture
def pack(tmp_path, monkeypatch):
    """The pack in a cache, as if it had been fetched."""
    pytest.importorskip("trimesh", reason="the extra 'meshes' is not installed")
    pytest.importorskip("embreex", reason="the extra 'meshes' is not installed")
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    meshes.mesh_of.cache_clear()
    yield put(whole_pack(), monkeypatch)
    meshes.mesh_of.cache_clear()


def put(content: bytes, monkeypatch):
    shipped = catalogue.sources()["things"]
    known = msgspec.structs.replace(
        shipped.files[0], sha256=hashlib.sha256(content).hexdigest(), bytes=len(content)
    )
    table = {"things": msgspec.structs.replace(shipped, files=(known,))}
    monkeypatch.setattr(catalogue, "sources", lambda: table)
    monkeypatch.setattr(meshes, "sources", lambda: table)
    file = catalogue.folder("things") / known.path
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert main(["data", "get", "things"]) == 0
    return file


def scene(*things: Placed) -> Scene:
    return Scene(things=things, viewer=VIEWER)


def test_a_mesh_fills_the_box_of_its_thing_and_looks_where_it_looks(pack):
    dog = Placed(id="dog", thing="dog", at=(0, 0, 0))
    plain, finer = draw(scene(dog), 96), draw(scene(dog), 96, meshes=True)
    assert finer.survey.boxes["dog"] == pytest.approx(plain.survey.boxes["dog"], abs=6)
    (part,) = meshes.mesh_of("dog")
    assert part.triangles.min(axis=(0, 1)) == pytest.approx([-1, -1, -1])
    assert part.triangles.max(axis=(0, 1)) == pytest.approx([1, 1, 1])
    high = part.triangles[part.triangles[..., 2] > 0.99]
    assert high[:, 1].min() == pytest.approx(1)  # its back is high, and away from its front
    assert part.colour == pytest.approx((1, 0, 0))


def test_depth_of_a_mesh_is_that_of_its_sloping_side(pack):
    truck = Placed(id="truck", thing="truck", at=(0, 0, 0))
    seen = draw(scene(truck), 64, meshes=True).survey
    assert np.isfinite(seen.depth[seen.mask == 1]).all()
    rows, _ = np.nonzero(seen.mask == 1)
    top, bottom = seen.depth[rows.min()], seen.depth[rows.max()]
    assert top[seen.mask[rows.min()] == 1].mean() > bottom[seen.mask[rows.max()] == 1].mean()


def test_what_may_carry_something_on_its_seat_looks_the_same_whether_it_does_or_not(pack):
    couch = Placed(id="couch", thing="couch", at=(0, 0, 0))
    seat = thing_named("couch").top
    assert seat is not None
    cat = Placed(id="cat", thing="cat", at=(*seat.at, seat.height))
    taken = draw(scene(couch, cat), 64, meshes=True)
    assert np.array_equal(draw(scene(couch), 64, meshes=True).rgb, draw(scene(couch), 64).rgb)
    couch_only = taken.survey.mask == 1
    plain = draw(scene(couch, cat), 64)
    assert (couch_only == (plain.survey.mask == 1)).mean() > 0.97


def test_a_picture_names_those_who_made_its_models(pack, tmp_path, capsys):
    say = ["scene", "--say", "a dog left of a car", "--meshes", "--size", "64"]
    assert main([*say, "-o", str(tmp_path / "a.png")]) == 0
    written = (tmp_path / "a.png").read_bytes()
    assert b"tEXtCopyright\0Models: car by Scopia, CC BY 3.0; dog by Scopia, CC BY 3.0;" in written
    assert "dog by Scopia" in capsys.readouterr().err
    assert (meshes.models() / "COPYRIGHT").read_text() == "as it says"


def test_every_model_of_the_table_is_of_a_thing_and_has_a_credit():
    from gnomon.scenes.things import things

    assert len(meshes.entries()) > 35
    for name, entry in meshes.entries().items():
        assert name in things()
        assert entry.source in meshes.CREDITS


def test_a_package_that_lacks_a_model_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    put(package({"usr/share/Scopia.sh3f": sh3f(["dog"])}), monkeypatch)
    with pytest.raises(DataError, match="the package lacks models"):
        meshes.models()
    assert not (catalogue.folder("things") / "models").exists()


def contents(file) -> list[bytes]:
    return [content for _, content in debian.files_in(file)]


@pytest.mark.parametrize("cut", [0, 7, 40, 70, 300, 900, 5000])
def test_a_damaged_package_is_one_sentence(tmp_path, cut):
    noise = random.Random(1).randbytes(9000)
    file = tmp_path / "p.deb"
    file.write_bytes(package({"a": noise}))
    assert contents(file) == [noise]
    file.write_bytes(package({"a": noise})[:cut])
    with pytest.raises(DataError, match="the package is damaged"):
        contents(file)
    changed = bytearray(package({"a": noise}))
    changed[cut + 500] ^= 0xFF  # within the packed data
    file.write_bytes(changed)
    with pytest.raises(DataError, match="the package is damaged"):
        contents(file)


def test_without_the_tool_a_mirror_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(debian.shutil, "which", lambda _: None)
    with pytest.raises(DataError, match=r"apt-get is not here(.|\n)*--mirror"):
        debian.download_package("some=1", tmp_path / "x.deb", sha256="0")


def test_what_the_tool_brings_is_checked(tmp_path, monkeypatch):
    tool = tmp_path / "apt-get"
    tool.write_text("#!/bin/sh\nprintf wrong > some_1_all.deb\n")
    tool.chmod(0o755)
    monkeypatch.setattr(debian.shutil, "which", lambda _: str(tool))
    with pytest.raises(DataError, match="its sha256 differs"):
        debian.download_package("some=1", tmp_path / "x.deb", sha256="0")
    right = hashlib.sha256(b"wrong").hexdigest()
    assert debian.download_package("some=1", tmp_path / "x.deb", sha256=right) == right
    tool.write_text("#!/bin/sh\necho E: no such package >&2\nexit 100\n")
    with pytest.raises(DataError, match="E: no such package"):
        debian.download_package("some=2", tmp_path / "y.deb", sha256="0")
