"""A real Label Studio on this machine, with people who sign up and answer over its REST API."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parent.parent.parent
TOKEN = "0123456789abcdef0123456789abcdef01234567"
OWNER, PASSWORD = "owner@lab.example", "only-for-this-test"
START = 600  # seconds that the first start may take: it makes its tables
NOT_INSTALLED = "Label Studio is not installed (make people, or set GNOMON_LABEL_STUDIO)"


def program() -> Path | None:
    """The server's program: that of GNOMON_LABEL_STUDIO, or of `make people`."""
    given = os.environ.get("GNOMON_LABEL_STUDIO")
    home = Path(given) if given else ROOT / ".venv-people"
    file = home.resolve() / "bin" / "label-studio"
    return file if file.is_file() else None


@contextmanager
def label_studio(file: Path, folder: Path) -> Iterator[str]:
    """A server that has just been installed; gives its address."""
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(
        [file, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)],
        env=_environment(folder),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    try:
        _wait_for(address, process, folder)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        "LABEL_STUDIO_USERNAME": OWNER,
        "LABEL_STUDIO_PASSWORD": PASSWORD,
        "LABEL_STUDIO_USER_TOKEN": TOKEN,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        # nothing beyond this machine is to be reached
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(address: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until:
        assert process.poll() is None, (folder / "server.log").read_text()[-2000:]
        try:
            if httpx.get(f"{address}/health", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(1)
    raise AssertionError(f"Label Studio did not start within {START} seconds")


class Annotator:
    """A user who signs up with the owner's invitation and works over REST."""

    def __init__(self, address: str, email: str) -> None:
        owner = httpx.Client(
            base_url=address, headers={"Authorization": f"Token {TOKEN}"}, timeout=60
        )
        invitation = owner.get("/api/invite").raise_for_status().json()["invite_url"]
        owner.close()
        self.email = email
        self.web = httpx.Client(base_url=address, timeout=60)
        self.web.get(invitation).raise_for_status()
        form = {
            "email": email,
            "password": PASSWORD,
            "csrfmiddlewaretoken": self.web.cookies["csrftoken"],
        }
        signed_up = self.web.post(invitation, data=form, headers={"Referer": address})
        assert signed_up.status_code == 302, signed_up.text[:300]
        self.id = self.web.get("/api/current-user/whoami").raise_for_status().json()["id"]

    def send(self, method: str, path: str, content: Any) -> Any:
        headers = {"X-CSRFToken": self.web.cookies["csrftoken"], "Referer": str(self.web.base_url)}
        reply = self.web.request(method, path, json=content, headers=headers)
        assert reply.status_code < 300, reply.text[:500]
        return reply.json()

    def tasks(self, project: int) -> list[dict[str, Any]]:
        query = {"project": project, "page_size": 500}
        found: list[dict[str, Any]] = self.web.get("/api/tasks/", params=query).json()["tasks"]
        return found

    def answer(self, task: int, value: str, about: str = "text") -> int:
        result = [choice("choice", value, about)]
        made = self.send(
            "POST", f"/api/tasks/{task}/annotations/", {"result": result, "lead_time": 3}
        )
        return int(made["id"])


def choice(name: str, value: str, about: str) -> dict[str, Any]:
    """A chosen value in a result of Label Studio."""
    return {
        "from_name": name,
        "to_name": about,
        "type": "choices",
        "value": {"choices": [f"={value}"]},
    }
