"""Does the label follow?"""
from __future__ import annotations
from collections.abc import Iterator
from gnomon.audit.finding import Finding
from gnomon.audit.subject import Subject

def proof(subject: Subject) -> Iterator[Finding]:
    yield Finding(check="proof", says="not yet")
