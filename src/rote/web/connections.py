"""Connections with limits: a client that sends or reads slowly costs its own connection, and never another's.

A request must arrive within `HEADER_SECONDS`, its body within `BODY_SECONDS`, and its answer must be taken within
`ANSWER_SECONDS`. At `MOST` connections the one that has waited longest without a request makes room for a new one.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from rote import interrupts

MOST = 256
HEADER_SECONDS, BODY_SECONDS, ANSWER_SECONDS = 10.0, 30.0, 60.0
STOPPING = 0.7
"""Seconds after which a stopping server is killed."""


class LimitedConnection(H11Protocol):
    """One connection."""

    open: ClassVar[set[LimitedConnection]] = set()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._waits: str | None = None
        self._since, self._answered = self.loop.time(), 0
        self.open.add(self)
        self._expect("header", HEADER_SECONDS)
        if len(self.open) > MOST:
            idle = [other for other in self.open if other._waits != "answer" and other is not self]
            if idle:
                min(idle, key=lambda other: (other._answered > 0, other._since))._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self.open.discard(self)
        self._expect(None, 0)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        self._answered += 1
        self._waits = None
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """Set the time limit of the current wait."""
        cycle = self.cycle
        if self.transport.is_closing():
            self._expect(None, 0)
        elif cycle is None or cycle.response_complete:
            self._expect("header", HEADER_SECONDS)
        elif cycle.more_body:
            self._expect("body", BODY_SECONDS)
        else:
            self._expect("answer", ANSWER_SECONDS)

    def _expect(self, what: str | None, seconds: float) -> None:
        if what == self._waits and what is not None:
            return  # the limit of what has begun stands, however many bytes trickle in
        if self._timer is not None:
            self._timer.cancel()
        self._waits, self._since = what, self.loop.time()
        self._timer = None if what is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self.open.discard(self)
        self.transport.abort()


class PromptServer(uvicorn.Server):
    """A server that stops in two seconds, whatever its connections and its work do."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        self.force_exit = True  # answers that are under way are not waited for
        interrupts.note(sig)
        rescue = threading.Timer(STOPPING, interrupts.leave)
        rescue.daemon = True
        rescue.start()


def serve(app: Any, listening: Any) -> None:
    """Serve until a signal comes."""
    settings = uvicorn.Config(
        app, log_level="warning", http=LimitedConnection, timeout_keep_alive=5, timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=2**15, ws="none", lifespan="off",
    )  # fmt: skip
    PromptServer(settings).run(sockets=[listening])
