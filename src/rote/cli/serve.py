"""`rote serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rote.cli.output import AsJson, print_json
from rote.version import pip_install


def serve(
    *folders: Annotated[Path, Parameter(help="Folders that hold models and runs.")],
    host: str = "127.0.0.1",
    port: int = 8017,
    as_json: AsJson = False,
) -> None:
    """Serve a local web page: a planner, live progress of runs, and an inspector of models.

    It shows what lies below the given folders, and nothing else.

    Example: `rote serve demo runs`

    Parameters
    ----------
    host
        The address to listen at.
    port
        The port to listen at; 0 picks a free one.
    """
    import socket

    from rote.errors import InputError

    try:
        from rote.web.app import make_app
        from rote.web.connections import serve as serve_connections
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn"):
            raise
        raise InputError(f"the page needs packages that are not installed; {pip_install('web')}") from None
    from rote.web.safety import LOOPBACK

    if not 0 <= port < 2**16:
        raise InputError(f"`port={port}`: ports are 0 to 65535")
    app = make_app(folders, hosts={*LOOPBACK, host})
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # so that whoever reads the address can connect at once
    except OSError as error:
        raise InputError(f"`host={host}`, `port={port}`: cannot be listened at ({error.strerror or error})") from None
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    if as_json:
        print_json({"address": address, "folders": [str(folder) for folder in folders]})
    else:
        print(f"Open {address} (Ctrl-C stops it)")
    import sys

    sys.stdout.flush()
    serve_connections(app, listening)
