"""A small stand-in for a Label Studio server, and what was sent to it.

It knows the requests that Gnomon makes, as version 1.23.2 answers them (test_labelstudio_real.py
holds the same code against the real server).
"""

from __future__ import annotations

import json
import re
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qs

import httpx

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PERSONAL = "eyJhbGciOi.eyJ0b2tlbl90eXBl.c2lnbmF0dXJl"
URL = "http://127.0.0.1:8080"


class FakeLabelStudio:
    """Projects, files, tasks and annotations in memory."""

    def __init__(self, page: int = 7) -> None:
        self.projects: list[dict[str, Any]] = []
        self.files: dict[int, list[str]] = {}
        self.tasks: dict[int, list[dict[str, Any]]] = {}
        self.sent: list[tuple[str, str, bytes]] = []  # method, path, body
        self.page = page  # the most that one page holds
        self.failing: dict[str, httpx.Response] = {}  # path -> what it answers instead
        self.access = 0  # how many short-lived tokens were given out

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(lambda request: unread(self.answer(request)))

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.sent.append((request.method, path, request.content))
        if path in self.failing:
            return self.failing[path]
        if path == "/api/token/refresh/":
            self.access += 1
            return httpx.Response(200, json={"access": f"short{self.access}"})
        if request.headers.get("Authorization") not in (
            f"Token {TOKEN}",
            f"Bearer short{self.access}",
        ):
            return httpx.Response(401, json={"detail": "Invalid token."})
        query = {name: values[0] for name, values in parse_qs(request.url.query.decode()).items()}
        if path == "/api/projects/":
            return self._projects(request, query)
        if path == "/api/tasks/":
            return self._tasks(query)
        found = re.fullmatch(r"/api/projects/(\d+)/(import|file-uploads|)", path)
        if found is None:
            return httpx.Response(404, json={"detail": "Not found."})
        return self._project(request, int(found[1]), found[2], query)

    def _projects(self, request: httpx.Request, query: dict[str, str]) -> httpx.Response:
        if request.method == "POST":
            project = {"maximum_annotations": 1, **json.loads(request.content)}
            project["id"] = len(self.projects) + 1
            self.projects.append(project)
            self.files[project["id"]], self.tasks[project["id"]] = [], []
            return httpx.Response(201, json=project)
        fitting = [one for one in self.projects if query["title"].lower() in one["title"].lower()]
        shown = self._page(fitting, query)
        return httpx.Response(200, json={"count": len(fitting), "results": shown})

    def _tasks(self, query: dict[str, str]) -> httpx.Response:
        tasks = self.tasks[int(query["project"])]
        shown = self._page(tasks, query)
        if query.get("fields") != "all":
            shown = [{"id": task["id"], "data": task["data"]} for task in shown]
        return httpx.Response(200, json={"total": len(tasks), "tasks": shown})

    def _page(self, entries: list[dict[str, Any]], query: dict[str, str]) -> list[dict[str, Any]]:
        start = (int(query["page"]) - 1) * self.page
        return entries[start : start + self.page]

    def _project(
        self, request: httpx.Request, number: int, what: str, query: dict[str, str]
    ) -> httpx.Response:
        if what == "file-uploads":
            files = [{"id": 1, "file": f"upload/{number}/{name}"} for name in self.files[number]]
            return httpx.Response(200, json=files)
        project = self.projects[number - 1]
        if not what:
            project.update(json.loads(request.content))
            return httpx.Response(200, json=project)
        if request.headers["Content-Type"].startswith("multipart/"):
            if project.get("label_config"):  # as the real one does, if there are two fields or more
                return httpx.Response(400, json={"detail": "more than one data key"})
            self.files[number] += [f"abcdef12-{name}" for name in _file_names(request)]
            assert query == {"commit_to_project": "false"}
        else:
            for task in json.loads(request.content):
                known = len(self.tasks[number]) + 1
                self.tasks[number].append({"id": number * 1000 + known, "annotations": [], **task})
        return httpx.Response(201, json={})

    # what people do there

    def annotate(
        self,
        task: dict[str, Any],
        user: int,
        values: dict[str, str],
        *,
        comment: str = "",
        skipped: bool = False,
        minute: int = 0,
    ) -> dict[str, Any]:
        result: list[dict[str, Any]] = []
        for name, value in values.items():
            result.append(
                {"from_name": name, "type": "choices", "value": {"choices": [f"={value}"]}}
            )
        if comment:
            text = {"text": [comment]}
            result.append({"from_name": "comment", "type": "textarea", "value": text})
        annotation = {
            "completed_by": user,
            "result": result,
            "was_cancelled": skipped,
            "lead_time": 2.5,
            "updated_at": f"2026-03-04T10:{minute:02}:00.000000Z",
            "created_username": "Real Name, real.name@uni.example",
        }
        task["annotations"].append(annotation)
        return annotation


def unread(response: httpx.Response) -> httpx.Response:
    """A response that comes over the network: its bytes have not been read yet."""
    stream = httpx.ByteStream(response.content)
    return httpx.Response(response.status_code, headers=response.headers, stream=stream)


def _file_names(request: httpx.Request) -> list[str]:
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + request.content).get_payload()
    return [part.get_filename() for part in parts]
