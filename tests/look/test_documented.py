"""docs/knowledge.md lists every switch, with its sentence and its modes."""

from pathlib import Path

from gnomon.look.records import mode_named, switches

PAGE = Path(__file__).parents[2] / "docs" / "knowledge.md"


def test_every_switch_is_documented_as_it_is():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for name, switch in switches().items():
        modes = [mode for mode in ("paper", "code") if mode_named(mode).has(name)]
        assert f"| `{name}` | {switch.stage} | {', '.join(modes)} | {switch.says} |" in lines
