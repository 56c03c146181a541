"""Small files of questions, as strangers write them."""

import json
import struct
import zlib

from gnomon.items.checking import Checker
from gnomon.items.itemfiles import numbered_items


def _chunk(kind, content):
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\0"))
    + _chunk(b"IEND", b"")
)


def questions(count):
    """Questions with three options, and the letter of the right one."""
    found = []
    for number in range(count):
        options = [f"in box {number}", "on the table", "away"]
        found.append(
            {
                "question": f"Where is ball {number}?",
                "options": options,
                "answer": "ABC"[number % 3],
            }
        )
    return found


def checked(file):
    """What `gnomon audit` finds out of a file of items."""
    found = Checker()
    for each in numbered_items(file):
        found.add(each.line, each.item, canary=each.canary)
    return found


def write_json(file, rows):
    """One object a line."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
