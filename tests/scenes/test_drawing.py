"""Many pictures: drawn side by side, whole or not at all, and never twice."""

import os
import subprocess
import sys

import pytest

from gnomon.errors import DataError
from gnomon.files import package_data
from gnomon.jobs import do_jobs
from gnomon.records import digest
from gnomon.scenes import drawing
from gnomon.scenes.drawing import EDITION, draw_missing, is_whole, keep_within, picture_name
from gnomon.scenes.pictures import paint, png, scene_file, scene_in
from gnomon.scenes.scenes import Placed, Scene, Viewer, read_scene, to_json

VIEWER = Viewer(eye=(0, -1, 0.5), at=(0, 0, 0))
SIZE = 24


def scenes(count):
    found = {}
    for number in range(count):
        cup = Placed(id="cup", thing="cup", at=(0.01 * number, 0, 0))
        scene = Scene(things=(cup,), viewer=VIEWER)
        found[picture_name(scene, SIZE)] = scene
    assert len(found) == count
    return found


def test_names_differ_by_scene_and_size_only():
    (name, scene), *_ = scenes(1).items()
    assert picture_name(scene, SIZE) == name
    assert picture_name(scene, SIZE + 1) != name
    assert picture_name(Scene(things=scene.things, viewer=VIEWER, look=1), SIZE) != name


@pytest.mark.parametrize("processes", [1, 2])
def test_only_missing_pictures_are_drawn(tmp_path, processes):
    wanted = scenes(5)
    told = []
    drawn = draw_missing(
        wanted, tmp_path, SIZE, processes=processes, watch=lambda *done: told.append(done)
    )
    assert drawn == 5
    assert told == [(n, 5) for n in range(1, 6)]
    assert sorted(wanted) == sorted(file.name for file in tmp_path.glob("*.png"))
    for name, scene in wanted.items():
        assert (tmp_path / name).read_bytes() == png(paint(scene, SIZE))  # pixels and no more
        assert scene_in(tmp_path / name) == read_scene(scene_file(tmp_path / name)) == scene
    assert draw_missing(wanted, tmp_path, SIZE) == 0


def test_a_picture_with_a_missing_or_a_changed_byte_is_not_whole(tmp_path):
    file = tmp_path / "cup.png"
    (scene,) = scenes(1).values()
    content = png(paint(scene, SIZE))
    file.write_bytes(content)
    assert is_whole(file, SIZE)
    assert not is_whole(file, SIZE + 1)
    for damaged in (content[:-1], content[:40], b"", content + b"x", b"\x00" + content[1:]):
        file.write_bytes(damaged)
        assert not is_whole(file, SIZE)
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    assert not is_whole(file, SIZE)


def test_what_a_killed_process_left_is_removed_when_it_is_old(tmp_path):
    old, new = tmp_path / ".a.png.1.part", tmp_path / ".b.png.2.part"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    draw_missing(scenes(1), tmp_path, SIZE)
    assert not old.exists()
    assert new.exists()


def test_a_folder_keeps_within_its_bound_and_loses_what_was_used_longest_ago(tmp_path):
    for number, name in enumerate(("old.png", "kept.png", "new.png")):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (number, number))
    keep_within(tmp_path, 300, {})
    assert len(list(tmp_path.iterdir())) == 3
    keep_within(tmp_path, 250, {"old.png": None})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.png", "old.png"]


def test_a_picture_that_cannot_be_written_is_said_in_one_sentence(tmp_path):
    (scene,) = scenes(1).values()
    with pytest.raises(DataError, match="cannot be written"):
        drawing.draw_one([to_json(scene), str(tmp_path / "nowhere" / "cup.png"), SIZE, False])
    bad = [["{}", str(tmp_path / f"{n}.png"), SIZE, False] for n in range(5)]
    with pytest.raises(DataError, match="not a scene"):
        list(do_jobs(drawing.draw_one, bad, processes=2))


def test_a_worker_that_dies_is_said_in_one_sentence():
    tasks = list(range(6))
    with pytest.raises(DataError, match="ended before its time"):
        list(do_jobs(os._exit, tasks, processes=2))


def test_a_killed_command_leaves_no_half_picture_and_the_next_one_goes_on(tmp_path):
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from test_drawing import SIZE, draw_missing, scenes\n"
        "watch = lambda done, total: done == 3 and os.kill(os.getpid(), 9)\n"
        "draw_missing(scenes(40), Path(sys.argv[1]), SIZE, processes=2, watch=watch)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path), os.path.dirname(__file__)]
    assert subprocess.run(command).returncode == -9
    there = list(tmp_path.glob("*.png"))
    assert len(there) >= 3
    assert all(is_whole(file, SIZE) for file in there)
    there.pop().unlink()  # if one process is slow to start, the other may have drawn all the rest
    wanted = scenes(40)
    assert 1 <= draw_missing(wanted, tmp_path, SIZE) <= 40 - len(there)
    assert all(is_whole(tmp_path / name, SIZE) for name in wanted)


def test_the_edition_changes_with_how_things_look():
    """Names of pictures stay while pictures do: change EDITION if this data draws other pixels."""
    files = [*package_data("things").glob("*.yaml"), package_data("looks.yaml")]
    files += [package_data("space/palette.yaml"), package_data("space/furniture.yaml")]
    looks = digest(*(file.read_text(encoding="utf-8") for file in sorted(files)))
    assert (EDITION, looks) == ("4ac4d3807b6a", "4ac4d3807b6a")
