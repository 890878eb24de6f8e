"""What keeps a page on this machine to this machine.

- Host: a site elsewhere can make its own name point at 127.0.0.1 (DNS rebinding) and have a browser read from here; its
  name is then in the Host header, and names other than those the server was started for are refused.
- Content-Security-Policy: nothing is loaded from elsewhere and no inline script or style runs, whatever a table or a
  folder is called.
- Requests that send something must come from the page itself.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Safety:
    """Checks every request before anything else sees it, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] = LOOPBACK) -> None:
        self.app, self.hosts = app, {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is not None:
            await PlainTextResponse(refusal + "\n", 400)(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _refusal(self, method: str, headers: Headers) -> str | None:
        host = _host(headers.get("host", ""))
        if host not in self.hosts:
            return f"this page answers to {', '.join(sorted(self.hosts))}, not to the host {host[:80]!r}"
        origin = headers.get("origin")
        if method not in ("GET", "HEAD") and origin is not None and _host(origin.partition("//")[2]) not in self.hosts:
            return "requests that send something must come from the page itself"
        return None


def _host(text: str) -> str:
    """The host of `host:port`; nothing where it cannot be read."""
    try:
        return (urlsplit(f"//{text}").hostname or "").lower()
    except ValueError:
        return ""
