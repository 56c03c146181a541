"""Can all that is said to be true of one picture or story be true at once?"""
from __future__ import annotations
from collections.abc import Iterator
from gnomon.audit.finding import Finding
from gnomon.audit.subject import Subject

def clash(subject: Subject) -> Iterator[Finding]:
    yield Finding(check="clash", says="not yet")
