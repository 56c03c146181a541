"""Draw a scene of everyday things and say what is true in it.

The scene comes from a file (docs/scenes.md has the format), from a seed, or from a caption. With
--say, --seed varies where things are put. An output that ends in .json is the scene itself, which
can be edited and drawn again; one in .svg is a drawing that can be turned in a browser, or with
--plan the scene from above. With --ask, the seed makes a world of several cameras and a matched
set of questions about it: motion, person, stand, distance, far-up, same, plan, sight, route, count
or joint (docs/views.md).

examples:
  gnomon scene --seed 7 -o scene.png
  gnomon scene --say "a cup on a table, a dog behind it" -o dog.png --facts
  gnomon scene --say "a cat under a table" -o cat.json -o cat.png
  gnomon scene --seed 3 --things 6 --facts
  gnomon scene --seed 3 --plan -o plan.svg
  gnomon scene --seed 7 --ask person -o person.png
"""

from __future__ import annotations

from argparse import Namespace
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import UsageError, inert
from gnomon.trust import check_begins, check_replaceable

if TYPE_CHECKING:
    from gnomon.scenes.scenes import Scene

ENDINGS = (".png", ".svg", ".json")
# how scenes and drawings begin that this command wrote
WRITTEN = rb'^\s*\{[^{]*"(things|viewer)"\s*:|<title>(Plan from above|The scene; drag it)'


def main(args: Namespace) -> int:
    """Make the scene, write what was asked for, print its facts."""
    from gnomon.scenes.pictures import check_size

    check_size(args.size)
    if args.ask is not None:
        return _ask(args)
    _check(args)
    scene = _scene(args)
    _warn(scene)
    for output in args.output:
        _write(scene, output, args)
    if args.facts:
        _print_facts(scene)
    return 0


def _ask(args: Namespace) -> int:
    """Print the matched questions of a world, and write their pictures beside one another."""
    from gnomon.scenes.pictures import write_png
    from gnomon.scenes.views import ViewWorld

    if args.seed is None or args.file is not None or args.say is not None:
        raise UsageError(
            "A world of questions comes from a seed.", "Try: gnomon scene --seed 7 --ask person"
        )
    outputs = [Path(output) for output in args.output]
    if len(outputs) > 1 or any(output.suffix.lower() != ".png" for output in outputs):
        raise UsageError("Questions are written as pictures.", "Give one -o NAME.png, or none.")
    names: dict[str, str] = {}
    for made in ViewWorld(args.seed, size=args.size).ask(args.ask):
        for image, rgb in zip(made.item.images, made.pictures(), strict=True):
            if outputs and image.path not in names:
                file = outputs[0].with_stem(f"{outputs[0].stem}-{len(names) + 1}")
                write_png(file, rgb)
                names[image.path] = file.name
        shown = [names[image.path] for image in made.item.images if image.path in names]
        where = f" [{', '.join(shown)}]" if shown else ""
        print(inert(f"{made.item.text}{where} Answer: {made.item.gold[0]}"))
    return 0


def _check(args: Namespace) -> None:
    sources = [args.file is not None, args.say is not None]
    if all(sources) or not (any(sources) or args.seed is not None):
        raise UsageError(
            "A scene comes from one of FILE, --say and --seed.",
            'Try: gnomon scene --say "a cup on a table" -o cup.png',
        )
    if args.file is not None and args.seed is not None:
        raise UsageError("A scene from a file has no seed.", "Leave --seed out.")
    if args.things is not None and any(sources):
        raise UsageError("--things is for random scenes.", "Give it with --seed alone.")
    if not args.output and not args.facts:
        raise UsageError("There is nothing to do.", "Give -o PICTURE.png, or --facts, or both.")
    for output in args.output:
        if Path(output).suffix.lower() not in ENDINGS:
            raise UsageError(
                f"'{output}' ends in none of {', '.join(ENDINGS)}.", "Change its ending."
            )
        _check_replaceable(Path(output))
    drawn = [output for output in args.output if Path(output).suffix.lower() == ".svg"]
    if args.plan and not drawn:
        raise UsageError("--plan is for drawings.", "Give it with -o FILE.svg.")


def _check_replaceable(file: Path) -> None:
    """Refuse to write in place of what this command did not; a picture is known by its scene."""
    from gnomon.scenes.pictures import scene_file

    if file.suffix.lower() != ".png":
        check_begins(file, WRITTEN)
        return
    beside = scene_file(file)
    check_begins(beside, WRITTEN)
    if file.is_file():
        check_replaceable(file, str(file), lambda _: beside.is_file())


def _scene(args: Namespace) -> Scene:
    if args.file is not None:
        from gnomon.scenes.scenes import read_scene

        return read_scene(args.file)
    if args.say is not None:
        from gnomon.scenes.descriptions import scene_of

        return scene_of(args.say, args.seed or 0)
    from gnomon.scenes.placing import SceneOptions, random_scene

    count = SceneOptions().things if args.things is None else args.things
    return random_scene(args.seed, SceneOptions(things=count))


def _warn(scene: Scene) -> None:
    """Say what cannot be in a scene; it is drawn all the same."""
    from gnomon.cli.dispatch import tell
    from gnomon.scenes.placing import impossibilities

    for sentence in impossibilities(scene):
        tell(sentence)


def _write(scene: Scene, output: str, args: Namespace) -> None:
    ending = Path(output).suffix.lower()
    if ending == ".png":
        _write_picture(scene, output, args)
        return
    Path(output).write_text(_as_text(scene, ending, plan=args.plan), encoding="utf-8")


def _write_picture(scene: Scene, output: str, args: Namespace) -> None:
    from gnomon.scenes.pictures import draw, scene_file, write_png
    from gnomon.scenes.scenes import to_json

    notes = {}
    if args.meshes:
        from gnomon.cli.dispatch import tell
        from gnomon.scenes.meshes import credit

        named = credit({placed.thing for placed in scene.things})
        tell(named or "None of these things has a mesh.")
        notes["Copyright"] = named
    write_png(output, draw(scene, args.size, meshes=args.meshes).rgb, notes=notes)
    scene_file(output).write_text(to_json(scene) + "\n", encoding="utf-8")


def _as_text(scene: Scene, ending: str, *, plan: bool) -> str:
    if ending == ".json":
        from gnomon.scenes.scenes import to_json

        return to_json(scene) + "\n"
    from gnomon.scenes import sketches

    if plan:
        return sketches.plan(scene) + "\n"
    return sketches.turnable_file(scene)


def _print_facts(scene: Scene) -> None:
    """Every true relation between two things, with its reason."""
    from gnomon.scenes.relations import facts

    for subject, ground in permutations([placed.id for placed in scene.things], 2):
        for fact in facts(scene, subject, ground).values():
            if fact.truth:
                print(inert(f"{fact.sentence()} [{fact.grade}] {fact.why}"))
