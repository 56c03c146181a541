"""Changes one tensor of a model in place, and looks whether anybody notices.

    python -m hostile.weights [--tensors N] [--megabytes N] [--json]

The file keeps its size, and every other time its date as well. A run that goes on must refuse the
changed model, shards of both must not be merged, and a comparison must tell the two apart. The same
bytes put back are the same model. A start with unchanged weights must cost hardly anything.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from random import Random
from statistics import median

from gnomon import registry
from gnomon.fingerprint import SETTLED
from gnomon.runs.identity import model_files
from hostile.arguments import parser_of
from hostile.command import Ended, command
from hostile.readers import AlwaysWrong, register
from hostile.tally import Tally, tell

TENSORS = 60
WARM = 0.050  # seconds that a start with unchanged weights may take longer than without a look
MODEL = "weighed:model"
ASK = ("run", "hostile-questions", "-m", MODEL, "--quiet")


class Weighed(AlwaysWrong):
    """A model that is a folder of weights, by its name."""

    spec = MODEL


def weighed(name: str) -> Weighed:
    return Weighed()


def write_model(folder: Path, megabytes: int) -> list[int]:
    """A folder with random tensors in safetensors' form; where each of them begins."""
    size = megabytes * 2**20 // TENSORS // 4 * 4
    header = {}
    for number in range(TENSORS):
        place = [number * size, (number + 1) * size]
        header[f"layer.{number}.weight"] = {
            "dtype": "F32", "shape": [size // 4], "data_offsets": place,
        }  # fmt: skip
    raw = json.dumps(header).encode()
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for _ in range(TENSORS):
            file.write(os.urandom(size))
    return [8 + len(raw) + number * size for number in range(TENSORS)]


def change(file: Path, place: int, *, keep_date: bool) -> None:
    """Flip one bit of a tensor, in place; done twice, it is as it was."""
    before = file.stat()
    with file.open("r+b") as stream:
        stream.seek(place)
        (byte,) = stream.read(1)
        stream.seek(place)
        stream.write(bytes([byte ^ 1]))
    if keep_date:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def look(ended: Ended, word: str, what: str, tally: Tally, *, refused: bool = True) -> None:
    """A fault unless the command says the word, and refuses if it should."""
    if "Traceback" in ended.said:
        tally.fault("traceback", f"{what}: {ended.said[-200:]}")
    if bool(ended.code) != refused or word not in ended.said:
        tally.fault("wrong", f"{what}: code {ended.code}: {ended.said[-200:]!r}")


def tallies(tensors: int, megabytes: int) -> Iterator[tuple[str, Tally]]:
    """What came of changing so many tensors, one at a time."""
    register()
    registry.MODELS["weighed"] = registry.Entry(f"{__name__}:weighed", "weights, by their folder")
    with tempfile.TemporaryDirectory() as place, chdir(place):
        os.environ["GNOMON_CACHE"] = str(Path(place) / "cache")
        yield "weights changed in place", _changed(tensors, megabytes)


def _changed(tensors: int, megabytes: int) -> Tally:
    tally = Tally()
    places = write_model(Path("model"), megabytes)
    time.sleep(SETTLED + 0.2)  # clocks of file systems are coarse: nothing younger is remembered
    for words in (["--limit", "8"], ["--shard", "1/2"]):
        look(command(*ASK, *words), "", "the first run", tally, refused=False)
    _look_at_a_warm_start(tally)
    rng = Random(tensors)
    size = places[1] - places[0]
    chosen = rng.sample(range(TENSORS), tensors)
    for number, tensor in enumerate(chosen):
        tally.tried += 1
        inside = places[tensor] + rng.choice([0, size - 1, rng.randrange(size)])
        keep_date = number % 2 == 0
        change(Path("model/model.safetensors"), inside, keep_date=keep_date)
        _look_at_all(f"tensor {tensor}, date kept {keep_date}", str(number), tally)
        change(Path("model/model.safetensors"), inside, keep_date=keep_date)
    look(command(*ASK), "", "as it was before", tally, refused=False)
    return tally


def _look_at_a_warm_start(tally: Tally) -> None:
    """What a start takes to see that the weights are those that it knows."""
    spec = registry.model(MODEL)
    seconds = []
    for _ in range(21):
        began = time.perf_counter()
        model_files(spec)
        seconds.append(time.perf_counter() - began)
    usual = median(seconds[1:])
    print(f"a warm start looks at the weights for {usual * 1000:.2f} ms", file=sys.stderr)
    if usual > WARM:
        tally.fault("hang", f"a warm start takes {usual * 1000:.0f} ms longer")


def _look_at_all(what: str, number: str, tally: Tally) -> None:
    """Continue, merge and compare with weights that are not those of before."""
    look(command(*ASK), "is not the one", f"{what}: run", tally)
    other = ("--runs", f"other-{number}")
    look(command(*ASK, *other, "--shard", "2/2"), "", f"{what}: shard", tally, refused=False)
    shards = sorted(Path().glob("*/*--shard-1-of-2")) + sorted(Path(other[1]).iterdir())
    merged = command("runs", "merge", *map(str, shards))
    look(merged, "files of the model", f"{what}: merge", tally)
    look(command(*ASK, *other, "--limit", "8"), "", f"{what}: anew", tally, refused=False)
    runs = [path for path in Path().glob("*/hostile*") if "shard" not in path.name]
    mine = [str(path) for path in runs if path.parent.name in ("runs", other[1])]
    look(command("compare", *mine), "(weights ", f"{what}: compare", tally, refused=False)


def main() -> int:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--tensors", type=int, default=20, help=f"to change, of {TENSORS}")
    parser.add_argument("--megabytes", type=int, default=300, help="of the model")
    args = parser.parse_args()
    return 0 if tell(tallies(args.tensors, args.megabytes), as_json=args.json) else 1


if __name__ == "__main__":
    sys.exit(main())
