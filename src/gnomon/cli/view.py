"""Explore runs in the browser: overview, live progress, models, runs side by side, every answer.

The viewer listens on this machine only. It changes no answer. You can add notes, mark labels as
doubtful and hide runs (kept in notes.json beside a run), and delete a run after a question. With
--read-only it changes nothing.

examples:
  gnomon view
  gnomon view --read-only
  gnomon view --runs results --port 9000
  export GNOMON_VIEW_TOKEN=$(python3 -c 'import secrets; print(secrets.token_urlsafe())')
  gnomon view --host 0.0.0.0 --allow-remote
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--runs", default="runs", metavar="DIR", help="the folder of runs (default: runs)"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8765,
        metavar="P",
        help="the port (default: 8765; 0 takes a free one)",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--read-only", action="store_true", help="no notes, no marks, no hiding, no deleting"
    )
    parser.add_argument(
        "--allow-remote", action="store_true", help="listen beyond this machine; needs a token"
    )
    parser.add_argument(
        "--token", default="", help="the secret that visitors must give (or GNOMON_VIEW_TOKEN)"
    )


def main(args: Namespace) -> int:
    """Serve until interrupted."""
    from pathlib import Path

    from gnomon.errors import UsageError, path_hint
    from gnomon.reports.viewer.serving import serve

    if not Path(args.runs).is_dir():
        hint = path_hint(args.runs, "Name the folder of runs with --runs.")
        raise UsageError(f"There is no folder {args.runs}.", hint)
    serve(
        args.runs,
        host=args.host,
        port=args.port,
        allow_remote=args.allow_remote,
        token=args.token,
        read_only=args.read_only,
        ready=_tell,
    )
    return 0


def _tell(address: str) -> None:
    print(f"Viewing at {address} (Ctrl-C ends it)", flush=True)
