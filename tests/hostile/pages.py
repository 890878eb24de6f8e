"""Requests that no page of ours sends: addresses, forms, headers and dropped tables."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

import rote
from hostile.ledgers import Ledgers
from hostile.strangers import StrangersFolders
from hostile.tables import SUFFIXES, table
from hostile.texts import NUMBERS, WITH_NUL
from hostile.watch import Attempt, remove

PAGES = (
    "/", "/planner", "/planner/numbers", "/planner/plan", "/planner/table", "/runs", "/runs/view", "/runs/live",
    "/runs/compare", "/inspector", "/inspector/model", "/inspector/search", "/inspector/live", "/inspector/fact",
    "/static/app.js", "/static/../app.py", "/nothing",
)  # fmt: skip
PARAMETERS = (
    "run", "a", "b", "model", "words", "row", "off", "page", "order", "search", "facts", "table", "vocab", "context",
    "dim", "head_dim", "heads", "layers", "variant", "dtype", "associations", "vocab_of_table", "context_of_table",
    "key_tokens", "last_tokens", "groups", "answers", "bits", "digest", "parts", "name",
)  # fmt: skip


class Pages:
    """The page, through its own application without a socket."""

    name = "page"
    helped = True

    def __init__(self, store: Path) -> None:
        """Serve a folder below `store` with a model in it."""
        from fastapi.testclient import TestClient

        from rote.web.app import make_app

        self._shown = store / "shown"
        rote.build("random:vocab=6,context=2,facts=9,seed=1").save(self._shown / "small")
        (self._shown / "linked").symlink_to("/etc")
        self._models, self._runs = StrangersFolders(store / "models"), Ledgers(store / "runs")
        app = make_app([self._shown])
        self._client: Any = TestClient(app, base_url="http://localhost", follow_redirects=False)

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        shelf = rng.random()
        if shelf < 0.25:
            return self._opened(*self._shelved(rng))
        if shelf < 0.5:
            name = rng.choice(WITH_NUL) + rng.choice(SUFFIXES)
            data = table(rng, rng.choice(SUFFIXES[:6]))
            request = ("POST", f"/planner/table?name={_quoted(name)}", {"content": data})
        else:
            request = (rng.choice(("GET", "GET", "GET", "POST", "PUT", "HEAD", "DELETE")), _address(rng), _extras(rng))
        method, address, rest = request
        return lambda: self._answered(method, address, **rest)

    def _answered(self, method: str, address: str, **rest: Any) -> bool:
        answer = self._client.request(method, address, **rest)
        if answer.status_code >= 500:
            raise AssertionError(f"{method} {address[:200]}: status {answer.status_code}")
        if "took more than" in answer.text or "took longer than" in answer.text:
            raise AssertionError(f"{method} {address[:200]}: its process had to be stopped: {answer.text[:300]}")
        return answer.status_code < 400

    def _shelved(self, rng: random.Random) -> tuple[Path, list[str]]:
        """A model or a run that means harm on the shelf, and the addresses under which it is shown."""
        name = f"bad{rng.randrange(10**9)}"
        place = self._shown / name
        place.mkdir()
        if rng.random() < 0.6:
            self._models.harmed(rng, place / "model")
            folder = f"0/{name}/model"
            pages = ("model?", "search?search=1&", "live?words=1&", "fact?row=0&", "fact?words=1+2&off=0.0&")
            return place, [f"/inspector/{page}model={folder}" for page in pages] + ["/inspector"]
        self._runs.harmed(rng, place / "run")
        folder = f"0/{name}/run"
        return place, [f"/runs/view?run={folder}", f"/runs/live?run={folder}", f"/runs/compare?a={folder}&b={folder}",
                       "/runs"]  # fmt: skip

    def _opened(self, place: Path, addresses: list[str]) -> Attempt:
        made = set(place.rglob("*"))

        def attempt() -> bool:
            try:
                accepted = [self._answered("GET", address) for address in addresses]
                if left := set(place.rglob("*")) - made:
                    raise AssertionError(f"leaves {', '.join(map(str, left))}")
            finally:
                remove(place)
            return accepted[0]

        return attempt


def _address(rng: random.Random) -> str:
    values = (
        *WITH_NUL,
        *NUMBERS,
        "0/small",
        "0/small",
        "0/linked",
        "0/small/..",
        "0/../x",
        "countries",
        "none",
        "1",
        "2",
        "smallest",
        "float32",
    )
    chosen = rng.sample(PARAMETERS, rng.randrange(7))
    if rng.random() < 0.4:
        chosen = ["model", *chosen]
    query = "&".join(f"{name}={_quoted(rng.choice(values))}" for name in chosen)
    return f"{rng.choice(PAGES)}?{query}"


def _extras(rng: random.Random) -> dict[str, Any]:
    """Headers that no browser sends with a request of the page's own."""
    if rng.random() < 0.7:
        return {}
    if rng.random() < 0.5:
        name = rng.choice(("Host", "Origin", "Sec-Fetch-Site"))
        value = rng.choice(
            ("evil.example", "evil.example@localhost", "localhost@evil.example", "http://localhost:1", "https://localhost",
             "cross-site", "same-site", "null", "localhost:99999", "[::1", "localhost, evil.example", "http://localhost")
        )  # fmt: skip
        return {"headers": {name: value}}
    name = rng.choice(("Accept", "Referer", "Cookie", "Content-Type", "Range", "X-Forwarded-Host", "Transfer-Encoding"))
    value = rng.choice(("", "evil.example", "localhost", "x" * 5000, "application/json", "bytes=9-1", "text/html;;;"))
    return {"headers": {name: value}}


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")
