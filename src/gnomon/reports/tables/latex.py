"""Text that pdflatex can set, whatever a model or a benchmark is called."""

from __future__ import annotations

import re

from gnomon.errors import inert

_WRITTEN = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "–": "--",
        "—": "---",
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "≈": r"$\approx$",
        "…": r"\ldots{}",
        "·": r"$\cdot$",
        "‘": "`",
        "’": "'",
        "“": "``",
        "”": "''",
        "\N{NO-BREAK SPACE}": "~",
    }
)
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=[`',!?])(?=[`'])")
_ACCENTED = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0100-\u017e]")


def latex_text(text: str) -> str:
    r"""The text in one line, with what LaTeX would take for a command escaped.

    Letters that pdflatex has no glyph for become their number: better a strange name than a paper
    that does not compile.

    >>> print(latex_text("gpt_4 & 50 % − 1"), latex_text("模"))
    gpt\_4 \& 50 \% $-$ 1 [U+6A21]
    """
    line = " ".join(inert(text).split())
    apart = _LIGATURES.sub("\0", line)
    return "".join(map(_set, apart)).replace("\0", "{}")


def _set(character: str) -> str:
    written = character.translate(_WRITTEN)
    if written.isascii() or written == "~" or _ACCENTED.match(character):
        return written
    return f"[U+{ord(character):04X}]"
