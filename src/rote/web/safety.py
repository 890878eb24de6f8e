"""What keeps a page on this machine to this machine.

- Host: a site elsewhere can make its own name point at 127.0.0.1 (DNS rebinding) and have a browser read from here; its
  name is then in the Host header, and names other than those the server was started for are rejected.
- Origin and Sec-Fetch-Site: a browser says which page a request comes from. Only requests of this page itself are
  answered: same scheme, host and port; an address that is typed or pasted has no such origin.
- Content-Security-Policy: nothing is loaded from elsewhere and no inline script or style runs, whatever a table or a
  folder is called.
"""

from __future__ import annotations

import re
from collections.abc import Collection

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
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::([0-9]{1,5}))?", re.IGNORECASE | re.ASCII)
"""A host and a port as RFC 9110 writes them: no user, no path, no spaces."""
OWN_SITES = ("same-origin", "none")
"""What a browser says of a request that comes from this page, or from its address bar."""


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

        rejection = self._rejection(scope["scheme"], Headers(scope=scope))
        if rejection is not None:
            await PlainTextResponse(rejection + "\n", 400)(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _rejection(self, scheme: str, headers: Headers) -> str | None:
        given = headers.getlist("host")
        host = host_of(given[0]) if len(given) == 1 else None
        if host not in self.hosts:
            return f"this page answers to {', '.join(sorted(self.hosts))}, not to the host {', '.join(given)[:80]!r}"
        own = f"{scheme}://{given[0]}".lower()
        if any(origin.lower() != own for origin in headers.getlist("origin")):
            return "requests must come from the page itself, and this one comes from elsewhere"
        if any(site.strip().lower() not in OWN_SITES for site in headers.getlist("sec-fetch-site")):
            return "another site sent you here; paste the address into your browser to open it"
        return None


def host_of(header: str) -> str | None:
    """The host of a Host header, without brackets and port; None where it is not exactly a host and a port."""
    match = _HOST.fullmatch(header)
    if match is None or int(match[2] or 0) >= 2**16:
        return None
    return match[1].strip("[]").lower()
