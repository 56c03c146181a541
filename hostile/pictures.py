"""Pictures that strangers damaged or made to do harm, shown to a model in one run.

    python -m hostile.pictures [--files N] [--json]

What must hold: a picture that cannot be shown is an error of its item; every item is in the log;
the process lives on and holds less than a gigabyte. Damage comes after bombs, other formats, names
that lie, pipes and links that lead nowhere.
"""

from __future__ import annotations

import io
import os
import random
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gnomon.contracts import ANYTHING, Benchmark, Scale
from gnomon.errors import GnomonError
from gnomon.items.source import ItemSource
from gnomon.records import Answer, Image, Item
from gnomon.runs import running
from gnomon.vision.images import pixels, see, thumbnail
from hostile.arguments import parser_of
from hostile.mutating import mutate
from hostile.tally import Tally, told_with_place

MOST_MEMORY = 1024  # MB that the process may hold
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


class Glance:
    """A model that looks at pictures as every model here does, and answers by their colour."""

    spec = "glance"
    scale: Scale = "none"
    takes = ANYTHING

    def describe(self) -> dict[str, str]:
        return {}

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        answers = []
        images = [item.images[0] for item in items]
        for item, seen in zip(items, see(images, pixels), strict=True):
            if seen.made is None:
                answers.append(Answer(item=item.id, error=seen.trouble))
                continue
            red, _, _ = seen.made.resize((1, 1)).tobytes()
            answers.append(Answer(item=item.id, choice="true" if red > 127 else "false"))
        return answers


def sound_pictures() -> list[tuple[str, bytes]]:
    """Pictures of every kind that is taken, small, with the ending of their names."""
    from PIL import Image as Pixels

    rng = random.Random(5)
    noise = Pixels.frombytes("RGB", (48, 32), rng.randbytes(48 * 32 * 3))
    exif = Pixels.Exif()
    exif[0x0112] = 6
    made: list[tuple[str, str, dict[str, Any]]] = [
        ("RGB", "jpg", {}),
        ("RGB", "jpg", {"progressive": True, "exif": exif, "icc_profile": b"x" * 3000}),
        ("CMYK", "jpg", {}),
        ("L", "jpg", {}),
        ("RGB", "png", {}),
        ("RGBA", "png", {}),
        ("P", "png", {"transparency": 3}),
        ("LA", "png", {}),
        ("I;16", "png", {}),
        ("1", "png", {}),
    ]
    found = []
    for mode, ending, options in made:
        picture = noise.convert("L").convert("I;16") if mode == "I;16" else noise.convert(mode)
        kept = io.BytesIO()
        picture.save(kept, "JPEG" if ending == "jpg" else "PNG", **options)
        found.append((ending, kept.getvalue()))
    return found


def chunk(kind: bytes, content: bytes) -> bytes:
    """A part of a PNG file, with its length and checksum."""
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))


def png(
    width: int, height: int, *, colour: int = 2, rows: int | None = None, more: bytes = b""
) -> bytes:
    """A black PNG of any size: what it says, and how many rows it really has."""
    channels = {0: 1, 2: 3, 6: 4}[colour]
    packer = zlib.compressobj(9)
    row = bytes(1 + width * channels) if width * channels < 2**26 else bytes(2**20)
    body = b"".join(packer.compress(row) for _ in range(height if rows is None else rows))
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    content = chunk(b"IDAT", body + packer.flush())
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + content + chunk(b"IEND", b"")


def made_to_harm() -> Iterator[tuple[str, bytes]]:
    """Bombs, other formats and names that lie."""
    from PIL import Image as Pixels

    yield "png", b""
    yield "jpg", b""
    yield "svg", SVG
    yield "png", SVG
    yield "jpg", b"%PDF-1.7"
    yield "png", b"PK\x03\x04" + bytes(100)
    yield "png", png(1, 100_000)
    yield "png", png(100_000, 1)
    yield "png", png(8000, 8000)  # as large as is taken
    yield "png", png(8000, 8000, colour=6)
    yield "png", png(8000, 8001)
    yield "png", png(30_000, 30_000, rows=1)
    yield "png", png(2**31 - 1, 2**31 - 1, rows=1)
    yield "png", png(0, 0, rows=0)
    yield "png", png(4000, 4000, rows=3)  # the rest is not there
    bomb = zlib.compress(bytes(2**28), 9)
    yield "png", png(8, 8, more=chunk(b"zTXt", b"Comment\0\0" + bomb))
    yield "png", png(8, 8, more=chunk(b"iCCP", b"icc\0\0" + bomb))
    yield "png", png(8, 8, more=chunk(b"iTXt", b"c\0\1\0\0\0" + bomb))
    yield "png", png(8, 8, more=chunk(b"tEXt", b"k\0v") * 50_000)
    frames = [Pixels.new("RGB", (40, 40), (shade, 0, 0)) for shade in range(0, 250, 25)]
    for ending, format in (("gif", "GIF"), ("png", "PNG"), ("webp", "WEBP"), ("png", "TIFF")):
        kept = io.BytesIO()
        frames[0].save(kept, format, save_all=True, append_images=frames[1:])
        yield ending, kept.getvalue()
    for format in ("BMP", "PPM", "ICO", "TGA", "EPS"):
        kept = io.BytesIO()
        frames[0].save(kept, format)
        yield "jpg", kept.getvalue()
    (_, jpeg), *_ = sound_pictures()
    yield "png", jpeg  # a name that lies
    yield "jpg", jpeg[:2] + b"\xff\xe1\xff\xff" * 5000 + jpeg[2:]
    yield "jpg", jpeg[:2] + b"\xff\xfe\x00\x02" * 100_000 + jpeg[2:]
    place = jpeg.index(b"\xff\xc0") + 5
    yield "jpg", jpeg[:place] + b"\xff\xff\xff\xff" + jpeg[place + 4 :]  # 65,535 squared


def lay_out(folder: Path, count: int) -> list[Path]:
    """So many hostile files in a folder, after those that are no files at all."""
    found = [folder / "missing.png", folder / "folder.png", folder / "loop.png"]
    found[1].mkdir()
    found[2].symlink_to(found[2])
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.png")
        found.append(folder / "pipe.png")
    for number, (ending, content) in enumerate(made_to_harm()):
        file = folder / f"harm-{number}.{ending}"
        file.write_bytes(content)
        found.append(file)
    sound = sound_pictures()
    for number in range(count - len(found)):
        rng = random.Random(number)
        ending, content = rng.choice(sound)
        for _ in range(rng.choice((1, 1, 1, 3))):
            content = mutate(content, "binary", rng)
        file = folder / f"damaged-{number}.{ending}"
        file.write_bytes(content)
        found.append(file)
    return found[:count]


def tried(folder: Path, count: int) -> Tally:
    """All pictures in one run, and as thumbnails."""
    files = lay_out(folder, count)
    items = [_item(number, file) for number, file in enumerate(files)]
    source = ItemSource(
        Benchmark(name="hostile", summary="", sources={"made": lambda: items}), "made"
    )
    tally = Tally(tried=len(files))
    started = _memory()
    try:
        run = running.run(source, Glance(), runs=folder / "runs")
    except BaseException as error:
        tally.fault("died", told_with_place(error))
        return tally
    answered = {item.id: answer for item, answer in run.rows()}
    for item in items:
        _judge(tally, item, answered.get(item.id))
    for file in files:
        _thumbnail(tally, file)
    tally.peak = max(0, _memory() - started)
    if _memory() > MOST_MEMORY:
        tally.fault("memory", f"{_memory():,} MB")
    return tally


def _item(number: int, file: Path) -> Item:
    return Item(
        id=str(number),
        form="caption",
        text="It is red.",
        choices=("false", "true"),
        gold=("true",),
        images=(Image(path=str(file)),),
    )


def _judge(tally: Tally, item: Item, answer: Answer | None) -> None:
    place = item.images[0].path
    if answer is None:
        tally.fault("lost", place)
    elif answer.error is None:
        tally.read += 1
    elif answer.error.startswith(place):  # our sentence, which names the file
        tally.refused += 1
    else:
        tally.fault("traceback", f"{place}: {answer.error}")


def _thumbnail(tally: Tally, file: Path) -> None:
    try:
        thumbnail(file)
    except GnomonError:
        return
    except BaseException as error:
        tally.fault("traceback", f"{file.name}: {told_with_place(error)}")


def _memory() -> int:
    """The most MB that this process has held."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def main() -> int:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--files", type=int, default=5000)
    args = parser.parse_args()
    from hostile.tally import tell

    with tempfile.TemporaryDirectory() as folder:
        found = tried(Path(folder), args.files)
        return 0 if tell([("pictures", found)], as_json=args.json) else 1


if __name__ == "__main__":
    sys.exit(main())
