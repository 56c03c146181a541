"""Seeded damage to files: to their bytes, and to their structure.

`mutate(raw, kind, rng)` gives one damaged file; the same seed always gives the same one. `kind` says
what the file is (json, jsonl, csv, tsv, yaml, xml, zip, gz, text or binary), so that the damage is
often still a file of that kind: values of other types, huge numbers, deep nesting, odd text.
"""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import struct
import zipfile
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

DEEP = 20_000
LONG = 200_000

TEXTS = (
    *("", " ", "0", "-1", "1_0", "nan", "inf", "-inf", "1e400", "9" * 401, "0x1F", "None", "null"),
    *("true", "no", "~", "\x00", "\r", "\n", "\r\n", "\t", "\x0b", "\x85", "\u2028", "\ufeff"),
    *("\u202e", "\u2066", "\u200d", "\u0301", "ß", "İ", "ﬁ", "é", "e\u0301", "١٢", "𝟙", "½", "😀"),
    *("\x1b]0;owned\x07", "\x1b[2J", "=cmd|' /C calc'!A0", "@SUM(1)", "\\input{/etc/passwd}"),
    *("../../etc/passwd", "/dev/zero", "C:\\x", "a/b", ".", "..", "{x}", "{0.__class__}", "%s"),
    *("{{ 7 * 7 }}", "<script>alert(1)</script>", "&lol;", "]]>", "--", "#", ":", "'", '"', "\\"),
    *("[MASK]", "[MASK] [MASK]", "{A}", "{A's}", "NP1", "a" * LONG, "a b " * (LONG // 4)),
)
NUMBERS = (
    *(
        "0",
        "-0.0",
        "-1",
        "1e999",
        "-1e999",
        "1e-999",
        "9" * 401,
        "-" + "9" * 5000,
        "0.1" + "1" * 500,
    ),
    *("2147483648", "9223372036854775808", "18446744073709551616", "1.5", "NaN", "Infinity"),
)
JSON_VALUES = (
    *NUMBERS,
    *("null", "true", "false", "[]", "{}", "[[]]", "[{}]", '{"": ""}', "[null]", '[1, "a", {}]'),
    *("[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, "[" * 400 + "]" * 400),
    *('"\\ud800"', '"\\u0000"', '"' + "a" * LONG + '"', "[" + "0," * 20_000 + "0]"),
)
YAML_VALUES = (
    *NUMBERS[:10],
    *("", "~", "yes", "no", "5", "[]", "{}", "[[]]", "[5]", "{a: 1}", "{a: {b: c}}", "''", '""'),
    *("2020-01-01", "0o7", "1:30", ".inf", ".nan", "!!binary aGk=", "!!set {a, b}", "!!null ''"),
    *("!!python/object/apply:os.system [true]", "!!float a", "*nowhere", "&a [*a]", "<<", "? a"),
    *("[" * 2000 + "]" * 2000, "{a: " * 2000 + "}" * 2000, "|", ">-", "- a", "a: b: c", "%", "`"),
)
XML_PARTS = (
    *("&lol;", "&#0;", "&#xD800;", "&amp", "<", ">", "<a>", "</a>", "<a/>", "<!-- x", "]]>"),
    *("<![CDATA[x]]>", "<?php x ?>", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<a b='1' b='2'/>"),
    *("<a>" * 2000, "<a>" * 2000 + "</a>" * 2000, " x='" + "y" * LONG + "'", "<x:y/>"),
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
)
HEADERS = (
    "id",
    "label",
    "answer",
    "prediction",
    "choice",
    "scores",
    "reply",
    "error",
    "yes",
    "item",
)


def mutate(raw: bytes, kind: str, rng: Random) -> bytes:
    """One damaged version of a file."""
    if rng.random() < 0.3:
        return mutate_bytes(raw, rng)
    damage = STRUCTURES.get(kind)
    if damage is None:
        return mutate_bytes(raw, rng)
    return damage(raw, rng)


def mutate_bytes(raw: bytes, rng: Random) -> bytes:
    """Damage that knows nothing of the format."""
    if not raw:
        return rng.randbytes(rng.randrange(1, 64))
    place = rng.randrange(len(raw))
    length = min(len(raw) - place, rng.choice((1, 1, 2, 4, 16, 64)))
    rest = raw[place + length :]
    odd = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
    way = rng.randrange(9)
    if way == 0:
        return raw[:place]
    if way == 1:
        return raw[:place] + bytes([raw[place] ^ (1 << rng.randrange(8))]) + raw[place + 1 :]
    if way == 2:
        return raw[:place] + rest
    if way == 3:
        return raw[:place] + raw[place : place + length] * rng.choice((2, 3, 1000)) + rest
    if way == 4:
        return raw[:place] + rng.randbytes(length) + rest
    if way == 5:
        return raw[:place] + odd + raw[place:]
    if way == 6:
        return raw[:place] + odd + rest
    if way == 7:
        return raw[:place] + bytes([rng.choice((0, 0x80, 0xC3, 0xE2, 0xED, 0xF5, 0xFF))]) + rest
    return rng.choice((b"", raw + raw, b"\xef\xbb\xbf" + raw, b"\xff\xfe" + raw, raw[place:]))


def mutate_json(raw: bytes, rng: Random) -> bytes:
    """A JSON file with one of its values or fields changed."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return mutate_bytes(raw, rng)
    return _damaged_value(content, rng).encode("utf-8", "surrogatepass")


def mutate_jsonl(raw: bytes, rng: Random) -> bytes:
    """A file of JSON lines with one line changed, doubled, removed or moved."""
    lines = raw.decode().splitlines()
    if not lines:
        return mutate_bytes(raw, rng)
    place = rng.randrange(len(lines))
    if rng.random() < 0.2:
        return _damaged_lines(lines, place, rng)
    try:
        content = json.loads(lines[place])
    except ValueError:
        return mutate_bytes(raw, rng)
    lines[place] = _damaged_value(content, rng)
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")


def _damaged_value(content: object, rng: Random) -> str:
    """The text of a JSON value in which one value, at any depth, is another."""
    places = list(_places(content))
    if not places:
        return rng.choice(JSON_VALUES)
    holder, key = rng.choice(places)
    way = rng.randrange(6)
    if way == 0:
        del holder[key]
        return json.dumps(content)
    if way == 1:
        holder[key] = rng.choice(TEXTS)
        return json.dumps(content, ensure_ascii=rng.random() < 0.5)
    if way == 2 and isinstance(holder, dict):
        holder[rng.choice((*TEXTS[:60], *HEADERS))] = holder.pop(key)
        return json.dumps(content)
    if way == 3:
        holder[key] = rng.choice((str(holder[key]), [holder[key]], {"a": holder[key]}))
        return json.dumps(content)
    mark = "a place that is replaced"
    holder[key] = mark
    value = rng.choice(JSON_VALUES)
    if way == 4 and isinstance(holder, dict):  # the field twice
        value = f'{value}, "{key}": {rng.choice(JSON_VALUES)}'
    return json.dumps(content).replace(f'"{mark}"', value)


def _places(content: object) -> list[tuple[Any, Any]]:
    """Every place in a value where another value could stand: what holds it, and its key."""
    found: list[tuple[Any, Any]] = []
    if isinstance(content, dict):
        for key, value in content.items():
            found.append((content, key))
            found += _places(value)
    if isinstance(content, list):
        for key, value in enumerate(content):
            found.append((content, key))
            found += _places(value)
    return found


def mutate_csv(raw: bytes, rng: Random) -> bytes:
    """A table with one cell, column name or row changed."""
    return _damaged_table(raw, ",", rng)


def mutate_tsv(raw: bytes, rng: Random) -> bytes:
    """The same with tabs."""
    return _damaged_table(raw, "\t", rng)


def _damaged_table(raw: bytes, delimiter: str, rng: Random) -> bytes:
    lines = raw.decode().splitlines()
    if not lines:
        return mutate_bytes(raw, rng)
    place = rng.randrange(len(lines))
    way = rng.randrange(7)
    if way == 0:
        return _damaged_lines(lines, place, rng)
    if way == 1:
        place = 0
    cells = lines[place].split(delimiter)
    cell = rng.randrange(len(cells))
    if way == 1:
        cells[cell] = rng.choice((*HEADERS, *TEXTS[:60]))
    elif way == 2:
        del cells[cell]
    elif way == 3:
        cells.insert(cell, cells[cell])
    elif way == 4:
        cells[cell] = '"' + cells[cell]
    else:
        cells[cell] = rng.choice((*TEXTS, *NUMBERS))
    lines[place] = delimiter.join(cells)
    end = rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
    return (end.join(lines) + end).encode("utf-8", "surrogatepass")


def mutate_yaml(raw: bytes, rng: Random) -> bytes:
    """A YAML file with one value, key or indentation changed."""
    lines = raw.decode().splitlines()
    places = [n for n, line in enumerate(lines) if line.strip()]
    if not places:
        return mutate_bytes(raw, rng)
    place = rng.choice(places)
    line = lines[place]
    way = rng.randrange(7)
    if way == 0:
        return _damaged_lines(lines, place, rng)
    if way == 1:
        lines[place] = rng.choice((" ", "  ", "\t", "- ")) + line
    elif way == 2:
        lines[place] = line.strip()
    elif way == 3 and ":" in line:
        lines[place] = f"{rng.choice((*YAML_VALUES, *TEXTS[:60]))}:{line.partition(':')[2]}"
    elif way == 4:
        indent = line[: len(line) - len(line.lstrip())]
        lines.insert(place, f"{indent}{rng.choice(('a', '<<', '- a', '? a', '&a b'))}: &b [*b, 1]")
    else:
        start, colon, value = line.partition(":")
        new = rng.choice(YAML_VALUES) if rng.random() < 0.7 else json.dumps(rng.choice(TEXTS))
        # Sometimes what is below stays as it was, which is then nested in a plain value.
        lines[place] = f"{start}: {new}" if colon else f"- {new}"
        if not value.strip() and rng.random() < 0.5:
            lines = [*lines[: place + 1], *_after_block(lines, place)]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _after_block(lines: list[str], place: int) -> list[str]:
    """The lines after what is indented below a line."""
    depth = len(lines[place]) - len(lines[place].lstrip())
    for n in range(place + 1, len(lines)):
        if len(lines[n]) - len(lines[n].lstrip()) <= depth:
            return lines[n:]
    return []


def mutate_xml(raw: bytes, rng: Random) -> bytes:
    """An XML file with a tag, an attribute or a text changed."""
    text = raw.decode()
    starts = [n for n, letter in enumerate(text) if letter in "<>\"'"]
    if not starts:
        return mutate_bytes(raw, rng)
    place = rng.choice(starts)
    end = next((n for n in starts if n > place), len(text))
    way = rng.randrange(4)
    if way == 0:
        changed = text[:place] + rng.choice(XML_PARTS) + text[place:]
    elif way == 1:
        changed = text[: place + 1] + rng.choice(TEXTS) + text[end:]
    elif way == 2:
        changed = text[:place] + text[end:]
    else:
        changed = text[:place] + text[place:end] * 2 + text[end:]
    return changed.encode("utf-8", "surrogatepass")


def mutate_zip(raw: bytes, rng: Random) -> bytes:
    """An archive with a member changed, renamed, doubled, or of another length than it says."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError):
        return mutate_bytes(raw, rng)
    name = rng.choice(list(members))
    way = rng.randrange(5)
    if way == 0:
        members[rng.choice(("../../a", "/a", "samples/", "a" * 5000, "samples/\x00.json"))] = b"{}"
    elif way == 1:
        members[name] = b" " * rng.choice((10**5, 10**6, 10**7))
    elif way == 2:
        members[name] = mutate_bytes(members[name], rng)
    else:
        members[name] = mutate_json(members[name], rng)
    packed = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(packed, "w", method) as archive:
        for member, content in members.items():
            archive.writestr(zipfile.ZipInfo(member), content, method)  # of a fixed date
    if rng.random() < 0.2:
        return mutate_bytes(packed.getvalue(), rng)
    return packed.getvalue()


def mutate_gz(raw: bytes, rng: Random) -> bytes:
    """Gzipped lines: damaged inside, cut off, followed by rubbish, or unpacking to very much."""
    content = gzip.decompress(raw)
    way = rng.randrange(5)
    if way == 0:
        return gzip.compress(mutate_jsonl(content, rng), 1, mtime=0)
    if way == 1:
        return raw[: rng.randrange(len(raw))]
    if way == 2:
        return raw + rng.randbytes(20)
    if way == 3:
        return gzip.compress(rng.choice((b"\n", b" ", b"a", b"[")) * 2 * 10**7, 1, mtime=0)
    return gzip.compress(mutate_bytes(content, rng), 1, mtime=0)


def mutate_text(raw: bytes, rng: Random) -> bytes:
    """Plain lines, one of them changed."""
    lines = raw.decode().splitlines()
    if not lines:
        return mutate_bytes(raw, rng)
    place = rng.randrange(len(lines))
    if rng.random() < 0.5:
        return _damaged_lines(lines, place, rng)
    lines[place] = rng.choice(TEXTS)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _damaged_lines(lines: list[str], place: int, rng: Random) -> bytes:
    """One line removed, doubled, moved, joined with the next, or replaced."""
    way = rng.randrange(6)
    if way == 0:
        lines = lines[:place] + lines[place + 1 :]
    elif way == 1:
        lines = lines[:place] + [lines[place]] * rng.choice((2, 2, 1000)) + lines[place + 1 :]
    elif way == 2:
        lines = [*lines[:place], "", *lines[place:]]
    elif way == 3:  # two change places
        other = rng.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    elif way == 4:
        return "\r".join(lines).encode("utf-8", "surrogatepass")
    else:
        lines = [*lines[:place], rng.choice(TEXTS), *lines[place + 1 :]]
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")


def mutate_sqlite(raw: bytes, rng: Random) -> bytes:
    """A database with one value of one row changed, a row or a table removed, or bytes changed."""
    if rng.random() < 0.4:
        return mutate_bytes(raw, rng)
    with TemporaryDirectory() as place:
        file = Path(place) / "damaged.sqlite"
        file.write_bytes(raw)
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            _damage_database(db, rng)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.read_bytes()


def _damage_database(db: sqlite3.Connection, rng: Random) -> None:
    named = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    table = rng.choice([name for (name,) in db.execute(named)])
    way = rng.randrange(8)
    if way == 0:
        db.execute(f"DROP TABLE {table}")
        return
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    column = rng.choice(columns)
    if way == 1:
        db.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO another")
        return
    key = columns[0]
    rows = db.execute(f"SELECT {key}, {column} FROM {table} ORDER BY {key}").fetchall()
    if not rows:
        return
    which, value = rng.choice(rows)
    if way == 2:
        db.execute(f"DELETE FROM {table} WHERE {key} = ?", (which,))
        return
    changed = rng.choice((None, -1, 2**62, 1.5e308, b"\xff\x00", *TEXTS, *JSON_VALUES))
    if isinstance(value, str) and value.startswith(("{", "[")) and rng.random() < 0.7:
        changed = mutate_json(value.encode(), rng).decode("utf-8", "replace")
    try:
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (changed, which))
    except (sqlite3.Error, UnicodeEncodeError):  # the database itself refuses
        db.execute(f"DELETE FROM {table} WHERE {key} = ?", (which,))


# What a careless reader of lengths and counts trips over.
WIDE = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)
FIELDS = (b"block_count", b"head_count", b"context_length", b"embedding_length", b"token_id")


def mutate_gguf(raw: bytes, rng: Random) -> bytes:
    """A model file of llama.cpp with a number of its header changed, or a part of it."""
    header = raw.index(b"output_norm.weight")
    place = rng.randrange(4, header)
    value = rng.choice(WIDE)
    way = rng.randrange(5)
    if way == 0:  # counts of tensors and fields, the length of the first name
        place = rng.choice((8, 16, 24))
    if way == 1:
        found = raw.index(rng.choice(FIELDS), 0, header)
        place = raw.index(struct.pack("<I", 4), found) + 4
        return raw[:place] + struct.pack("<I", value % 2**32) + raw[place + 4 :]
    if way == 2:
        return raw[:place] + raw[place + rng.randrange(1, 40) :]
    if way == 3:
        return raw[:place] + bytes([raw[place] ^ (1 << rng.randrange(8))]) + raw[place + 1 :]
    return raw[:place] + struct.pack("<Q", value) + raw[place + 8 :]


STRUCTURES = {
    "gguf": mutate_gguf,
    "sqlite": mutate_sqlite,
    "json": mutate_json,
    "jsonl": mutate_jsonl,
    "csv": mutate_csv,
    "tsv": mutate_tsv,
    "yaml": mutate_yaml,
    "xml": mutate_xml,
    "zip": mutate_zip,
    "gz": mutate_gz,
    "text": mutate_text,
}
