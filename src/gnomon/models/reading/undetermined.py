"""Replies that say that the question cannot be decided: *neutral*, where that is a choice.

It must be the text that is silent. "I can't help with that" is a model that is.
"""

from __future__ import annotations

import re

_KNOW = r"(?:tell|say|know|determine|decide|conclude|infer|be sure|verify|confirm|establish)"
_KNOWN = r"(?:told|said|known|determined|decided|concluded|inferred|verified|confirmed|established)"
_STUFF = r"(?:information|info|context|evidence|data|details?)"
_UNDECIDED = re.compile(
    rf"\b(?:cannot|can't|can not|couldn't|could not) (?:\w+ )?be (?:\w+ )?{_KNOWN}\b|"
    rf"^\W*(?:cannot|can't|can not) {_KNOW}\b|"
    rf"\b(?:we|one|you|nobody|no one) (?:cannot|can't|can not|can) (?:\w+ )?{_KNOW}\b|"
    r"\b(?:undetermined|indeterminate|indeterminable|inconclusive|undecidable|unspecified|unknown|"
    r"unknowable)\b|"
    rf"\b(?:not|n't|isn't|no|insufficient|too little) (?:\w+ )?(?:enough |sufficient )?{_STUFF}\b|"
    rf"\bimpossible to {_KNOW}\b|\bnot possible to {_KNOW}\b|\bno way (?:to|of) {_KNOW}|"
    r"\b(?:text|passage|premises?|context|story|it|information|author)(?: given)? "
    r"(?:does not|doesn't|do not|don't|did not|didn't|never) "
    r"(?:provide|give|contain|say|says|state|states|specify|specifies|mention|"
    r"mentions|tell|tells|indicate|make)\b|"
    r"\bnot (?:specified|stated|mentioned|determinable|provided)\b|^\W*not given\b|"
    r"\b(?:it is|it's) unclear\b|^\W*unclear\b|\bunclear (?:from|whether|if)\b|"
    r"\b(?:does|do|can)(?:n't| not) (?:necessarily )?follow either way\b"
)
_CAN = re.compile(r"\b(?:we|one|you) can ")
_REFUSED = re.compile(
    r"\b(?:sorry|apologi[sz]e|as an ai|language model|i (?:do not|don't|cannot|can't) (?:have|see|"
    r"access|help|view|assist)|unable to (?:help|assist|see|view))\b"
)


def says_undetermined(text: str) -> bool:
    """Whether a reply says that the text does not decide the question.

    >>> says_undetermined("cannot be determined."), says_undetermined("i can't help with that.")
    (True, False)
    """
    if _REFUSED.search(text):
        return False
    found = _UNDECIDED.search(text)
    return found is not None and not _CAN.match(found[0])
