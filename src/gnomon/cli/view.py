"""Explore runs in the browser: overview, live progress, models, runs side by side, every answer.

The viewer listens on this machine only. It changes no answer. You can add notes, mark labels as
doubtful and hide runs (kept in notes.json beside a run), and delete a run after a question. With
--read-only it changes nothing. --share lets others of your network look, by a secret address.

examples:
  gnomon view
  gnomon view --read-only
  gnomon view --share
  gnomon view --runs results --port 9000
  export GNOMON_VIEW_TOKEN=$(python3 -c 'import secrets; print(secrets.token_urlsafe())')
  gnomon view --host 0.0.0.0 --allow-remote
"""

import os
from argparse import Namespace

EVERYWHERE = "0.0.0.0"  # noqa: S104 - only if it is shared, with a token


def main(args: Namespace) -> int:
    """Serve until interrupted."""
    from pathlib import Path

    from gnomon.errors import UsageError
    from gnomon.reports.viewer.serving import TOKEN, serve
    from gnomon.unknownnames import not_a_run
    from gnomon.web import is_loopback

    if not Path(args.runs).is_dir():
        hint = not_a_run(args.runs, "Name the folder of runs with --runs.")
        raise UsageError(f"There is no folder {args.runs}.", hint)
    if args.share:
        from secrets import token_urlsafe

        args.host = EVERYWHERE if is_loopback(args.host) else args.host
        args.token = args.token or os.environ.get(TOKEN) or token_urlsafe(24)
        args.allow_remote = args.read_only = True
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
    from socket import gethostname

    address = address.replace(EVERYWHERE, gethostname())
    print(f"Viewing at {address} (Ctrl-C ends it)", flush=True)
