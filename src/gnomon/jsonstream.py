"""The elements of a large JSON file, one at a time: gigabytes of annotations in a few megabytes.

The file is an array of objects, or an object whose members are such arrays. Here only brackets and
strings are told apart; each element is then decoded and checked by whoever knows its fields. So a
fault inside an element costs that element, and one between elements ends the file: both are named
with their byte.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

import msgspec

from gnomon.errors import DataError
from gnomon.files import open_regular

BLOCK = 2**18  # bytes that are read at a time
LONGEST = 64 * 2**20  # bytes of one element; those of Visual Genome have up to 100 kB
DEEPEST = 64
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x1f\x8b": "gzip", b"PK": "zip"}
# All is possessive, so that nothing is ever looked at twice. Before Python 3.11.5 possessive
# quantifiers miss matches (gh-106052): there a look-ahead that is matched again does the same.
POSSESSIVE = sys.version_info >= (3, 11, 5)
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN = rb'[^"{}\[\]]*+(?:%b[^"{}\[\]]*+)*+' % _STRING  # without a bracket outside of strings
# objects that have no others in them are passed over as wholes
_PASSED = rb"%b(?:\{%b\}%b)*+" % (_PLAIN, _PLAIN, _PLAIN)


def _compiled(
    pattern: bytes, then: bytes = b"", *, possessive: bool = POSSESSIVE
) -> re.Pattern[bytes]:
    """A pattern that is never looked at twice, and what follows it as the group `then`."""
    if not possessive:
        pattern = pattern.replace(b"*+", b"*").replace(b"++", b"+")
        pattern = rb"(?=(?P<passed>%b))(?P=passed)" % pattern
    return re.compile(rb"%b(?P<then>%b)" % (pattern, then), re.DOTALL)


STRING = _compiled(_STRING)
BRACKET = _compiled(_PASSED, rb"[{}\[\]]")  # the next one
SCALAR = _compiled(rb"[-+.\w]++")
SPACE = b" \t\r\n"
T = TypeVar("T")


class JsonElement(NamedTuple):
    """An element of an array: the member of the file that it is in, its first byte, its text."""

    member: str  # empty where the file is one array
    byte: int
    text: bytes


class FaultError(Exception):
    """The file is no JSON from a byte on."""

    def __init__(self, byte: int, what: str) -> None:
        super().__init__(what)
        self.byte, self.what = byte, what


class JsonFile:
    """A JSON file that is read from front to back; `done` of its `total` bytes are read."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.done = 0
        self.total = 0

    def elements(self) -> Iterator[JsonElement]:
        """Every element of the file's arrays, in order; members that are no arrays are passed over.

        Raises `FaultError` where the JSON ends early.
        """
        try:
            with open_regular(self.file) as stream:
                self.total = stream.seek(0, 2)
                stream.seek(0)
                _check_marks(stream.read(4), self.file)
                stream.seek(0)
                for element in _elements(_Window(stream)):
                    self.done = element.byte
                    yield element
        except OSError as error:
            raise DataError(f"{error.strerror}.", "Check the path.", file=self.file) from None
        finally:
            self.done = self.total

    def elements_or_fault(self) -> Iterator[JsonElement | FaultError]:
        """The elements; where the JSON ends early, what is wrong there comes last."""
        try:
            yield from self.elements()
        except FaultError as fault:
            yield fault

    def first_bytes(self, count: int) -> bytes:
        """How the file begins, white space and byte order mark left out."""
        try:
            with open_regular(self.file) as stream:
                return stream.read(count).removeprefix(BYTE_ORDER_MARK).lstrip()
        except OSError as error:
            raise DataError(f"{error.strerror}.", "Check the path.", file=self.file) from None


def decoded(text: bytes, decoder: msgspec.json.Decoder[T]) -> T | str:
    """The text of an element as a record, or what is wrong with it."""
    try:
        if not text.isascii():
            text.decode()  # fields that are passed over are not looked into
        return decoder.decode(text)
    except UnicodeDecodeError as error:
        return f"byte {error.start} of the element is not UTF-8"
    except (msgspec.MsgspecError, RecursionError) as error:
        return str(error)


def _check_marks(head: bytes, file: Path) -> None:
    """Refuse what is no text in UTF-8 by its first bytes."""
    if not head:
        raise DataError("the file is empty.", "Fetch or write it again.", file=file)
    for mark, kind in MARKS.items():
        if head.startswith(mark):
            remedy = "Write it as UTF-8." if kind == "UTF-16" else "Unpack it first."
            raise DataError(f"this is {kind}, not plain JSON.", remedy, file=file)


def _elements(window: _Window) -> Iterator[JsonElement]:
    window.skip(BYTE_ORDER_MARK)
    first = window.peek()
    if first == b"[":
        yield from _array(window, "")
    elif first == b"{":
        yield from _members(window)
    else:
        raise FaultError(window.byte, "the file begins with neither [ nor {")
    if window.peek():
        raise FaultError(window.byte, "something follows where the JSON has ended")


def _members(window: _Window) -> Iterator[JsonElement]:
    """The elements of every array that is a member of an object."""
    window.expect(b"{")
    if window.peek() == b"}":
        window.expect(b"}")
        return
    while True:
        if window.peek() != b'"':
            raise FaultError(window.byte, "the name of a member is missing")
        byte = window.byte
        try:
            name = window.value()[1:-1].decode()
        except UnicodeDecodeError:
            raise FaultError(byte, "the name of a member is not UTF-8") from None
        window.expect(b":")
        if window.peek() == b"[":
            yield from _array(window, name)
        else:
            window.value()
        if window.expect(b",}") == b"}":
            return


def _array(window: _Window, member: str) -> Iterator[JsonElement]:
    window.expect(b"[")
    if window.peek() == b"]":
        window.expect(b"]")
        return
    while True:
        window.peek()
        byte = window.byte
        yield JsonElement(member, byte, window.value())
        if window.expect(b",]") == b"]":
            return


class _Window:
    """The part of a file around the place that has been reached."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._start = 0  # where `data` begins in the file
        self._place = 0  # in `data`
        self._block = BLOCK
        self._ended = False
        self.data = b""

    @property
    def byte(self) -> int:
        """The place in the file."""
        return self._start + self._place

    def peek(self) -> bytes:
        """The next byte that is no white space; empty at the end."""
        while True:
            while self._place < len(self.data):
                if self.data[self._place] not in SPACE:
                    return self.data[self._place : self._place + 1]
                self._place += 1
            if not self._more():
                return b""

    def skip(self, prefix: bytes) -> None:
        """Pass over some bytes if they come next."""
        while len(self.data) < self._place + len(prefix) and self._more():
            pass
        if self.data.startswith(prefix, self._place):
            self._place += len(prefix)

    def expect(self, wanted: bytes) -> bytes:
        """Pass over the next byte, which must be one of those wanted."""
        found = self.peek()
        if not found:
            raise FaultError(self.byte, "the file ends too early")
        if found not in wanted:
            expected = " or ".join(wanted.decode())
            shown = found.decode("ascii", errors="backslashreplace")
            raise FaultError(self.byte, f"there is {shown} where {expected} is expected")
        self._place += 1
        return found

    def value(self) -> bytes:
        """The text of the value that comes next, whatever it is."""
        first = self.peek()
        if not first:
            raise FaultError(self.byte, "the file ends too early")
        if first in b"{[":
            return self._bracketed()
        if first == b'"':
            return self._plain(STRING)
        return self._plain(SCALAR)

    def _plain(self, pattern: re.Pattern[bytes]) -> bytes:
        """A string, number or word."""
        match = pattern.match(self.data, self._place)
        if match is None and pattern is SCALAR:
            raise FaultError(self.byte, "a value is missing")
        while not self._ended and (match is None or match.end() == len(self.data)):
            self._more()
            match = pattern.match(self.data, self._place)
        if match is None:
            raise FaultError(self.byte, "this string has no end")
        self._place = match.end()
        return match[0]

    def _bracketed(self) -> bytes:
        """An object or array, with all that is in it."""
        depth, place = 1, self._place + 1
        while True:
            match = BRACKET.match(self.data, place)
            if match is None:
                place -= self._place
                if not self._more():
                    raise FaultError(self.byte, "this element has no end")
                place += self._place
                continue
            place = match.end()
            depth += 1 if match["then"] in b"{[" else -1
            if depth == 0:
                break
            if depth > DEEPEST:
                raise FaultError(self._start + place, f"more than {DEEPEST} brackets are open")
        text = self.data[self._place : place]
        self._place = place
        return text

    def _more(self) -> bool:
        """Read on, and let go of what lies behind; whether there was anything."""
        if self._ended:
            return False
        kept = self.data[self._place :]
        if len(kept) > LONGEST:
            raise FaultError(self.byte, f"this element has more than {LONGEST // 2**20} MB")
        # An element that does not fit is read in growing blocks: the time stays linear.
        self._block = max(BLOCK, len(kept))
        block = self._stream.read(self._block)
        self._ended = len(block) < self._block
        self._start += self._place
        self._place = 0
        self.data = kept + block
        return bool(block)
