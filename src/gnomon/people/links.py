"""Personal links: a random token for each person, of which only the hash is kept.

The link stands in the run's folder, so it goes when the person's run does. A link that is opened
begins a session; the newest session counts, so that one link cannot be used by two at a time.
"""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

import msgspec

from gnomon.durable import OWNER, replace_file
from gnomon.errors import DataError
from gnomon.files import read_json

LINK = "link.json"


class Link(msgspec.Struct, kw_only=True):
    """What is known of a person's link."""

    key: str  # stands in the addresses of the person's pages, and opens nothing
    token: str = ""  # the hash of the secret in the link
    session: str = ""  # the hash of the secret in the cookie
    salt: str  # makes the ids of items opaque
    participant: str = ""  # who it is to a panel, such as Prolific


def new_link() -> Link:
    """A link without a token yet."""
    return Link(key=secrets.token_hex(6), salt=secrets.token_hex(16))


def new_secret() -> str:
    """A random token that fits into an address."""
    return secrets.token_urlsafe(24)


def hash_of(secret: str) -> str:
    """What is kept of a secret. It is random and long, so a plain hash cannot be guessed back."""
    return sha256(secret.encode(errors="replace")).hexdigest()


def matches(secret: str, hashed: str) -> bool:
    """Whether a secret is the one that was hashed."""
    return bool(hashed) and hmac.compare_digest(hash_of(secret), hashed)


def opaque(salt: str, text: str) -> str:
    """A name for something that says nothing about it, the same for the same salt."""
    return hmac.new(salt.encode(), text.encode(), sha256).hexdigest()[:20]


def read_link(folder: Path, name: str = LINK) -> Link | None:
    """The link in a run's folder; none if there is none yet."""
    file = folder / name
    if not file.exists():
        return None
    found = read_json(file, Link, limit=2**16, hint="Remove it: the person then gets a new link.")
    if not (found.key and found.salt):
        raise DataError("the link is incomplete.", "Remove the file.", file=file)
    return found


def write_link(folder: Path, link: Link, name: str = LINK) -> None:
    """Keep a link, in one step."""
    replace_file(folder / name, msgspec.json.encode(link), mode=OWNER)
