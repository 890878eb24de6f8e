"""Model folders on a Hub: a server on this machine that keeps what it is sent, and sends what it is asked for."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import rote
from rote.folders.card import model_card
from rote.folders.hub import is_on_hub
from rote.tasks.origin import Origin

CAPITALS = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """The calls of the Hub that pushing and loading make, for repositories of one owner."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = defaultdict(dict)
        self.sizes: dict[str, int] = {}
        """Sizes that it states instead of the true ones."""
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Answers)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answers(BaseHTTPRequestHandler):
    server: Hub  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def files(self):
        return self.server.repositories[re.search(r"/me/(\w+)", self.path)[1]]

    def log_message(self, format, *args):
        pass

    def do_POST(self):
        body = self._body()
        self.server.asked.append(f"POST {self.path}")
        if self.path.endswith("/preupload/main"):
            files = json.loads(body)["files"]
            modes = [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in files]
            return self._json({"files": modes})
        if self.path.endswith("/commit/main"):
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
                if line["key"] == "deletedFile":
                    self.files.pop(line["value"]["path"], None)
            return self._json({"commitUrl": f"{self.server.endpoint}/me/capitals/commit/{COMMIT}", "commitOid": COMMIT})
        return self._json({"url": f"{self.server.endpoint}/me/capitals", "name": "me/capitals", "type": "model"})

    def do_GET(self):
        self._body()
        self.server.asked.append(f"GET {self.path}")
        path = self.path.partition("?")[0]
        if "/resolve/" in path:
            return self._file(path.rpartition("/")[2])
        listed = [
            {"rfilename": name, "path": name, "type": "file", "oid": COMMIT, "blobId": COMMIT,
             "size": self.server.sizes.get(name, len(content))}
            for name, content in self.files.items()
        ]  # fmt: skip
        if "/tree/" in path:
            return self._json(listed)
        return self._json({"id": "me/capitals", "sha": COMMIT, "siblings": listed})

    do_HEAD = do_GET  # noqa: N815

    def _file(self, name):
        content = self.files[name]
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha1(content).hexdigest()}"'}
        self._send(content, {**headers, "Content-Type": "application/octet-stream"})

    def _json(self, content):
        self._send(json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _send(self, content, headers):
        self.send_response(200)
        for name, value in {**headers, "Content-Length": len(content)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


@pytest.fixture
def hub(tmp_path):
    server = Hub()
    yield server
    server.shutdown()
    server.server_close()


def run(hub: Hub, home, code: str) -> list:
    """What a process of its own prints as JSON; the Hub's library reads its address when it is imported."""
    start = f"import json, rote\nCAPITALS = {CAPITALS!r}\n"
    start += "def refused(name, **options):\n    try: rote.load(name, **options)\n"
    start += "    except rote.InputError as error: return str(error)\n"
    surroundings = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(home), "HF_TOKEN": "hf_test", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", start + code],
        env={**os.environ, **surroundings}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_push_and_load(hub, tmp_path):
    files = hub.repositories["capitals"]
    files |= {"keys.safetensors": b"of an older model", "notes.txt": b"somebody's own"}
    before, commit, answer, holds, offline = run(
        hub, tmp_path, """
before = refused("hf://me/capitals")
built = rote.build(CAPITALS)
commit = built.push_to_hub("me/capitals", private=True)
folder = rote.load("hf://me/capitals", download=True)
holds = rote.verify(folder, CAPITALS).holds
again = rote.load("hf://me/capitals").certificate.recalled
print(json.dumps([before, commit, folder.model.ask("capital", "France").answer, holds, again]))
""",
    )  # fmt: skip
    assert before == "hf://me/capitals: the local cache of the Hub does not have it; allow the network with `download`"
    assert commit.endswith(COMMIT)
    assert (answer, holds, offline) == ("Paris", True, 2)
    saved = rote.build(CAPITALS).save(tmp_path / "saved")
    assert files.keys() == {*(file.name for file in saved.iterdir()), "README.md", "notes.txt"}
    assert files["model.safetensors"] == (saved / "model.safetensors").read_bytes()
    assert b"| recalled | 2 of 2 facts |" in files["README.md"]
    # Neither the card nor what else is there is fetched.
    fetched = {path.rpartition("/")[2] for path in hub.asked if "/resolve/" in path}
    assert fetched == {file.name for file in saved.iterdir()}


def test_what_a_stranger_put_there_is_refused(hub, tmp_path):
    saved = rote.build(CAPITALS).save(tmp_path / "saved")
    whole = {file.name: file.read_bytes() for file in saved.iterdir()}
    nested = b'{"format": 3, "spec": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    hub.repositories |= {
        "deep": {**whole, "config.json": nested, "evil.py": b"raise SystemExit"},
        "empty": {"README.md": b"nothing"},
        "large": whole,
    }
    hub.sizes["vocab.json.xz"] = 2**40
    code = 'print(json.dumps([refused(f"hf://me/{name}", download=True) for name in ("large", "empty")]))'
    large, empty = run(hub, tmp_path, code)
    assert large.startswith("hf://me/large: vocab.json.xz has 1,099,511,627,776 bytes, too many for a list of words")
    assert empty == "hf://me/empty: has no config.json, so it is not a model folder of rote's"
    assert not any("/resolve/" in path for path in hub.asked)
    hub.sizes.clear()
    (deep,) = run(hub, tmp_path, 'print(json.dumps([refused("hf://me/deep", download=True)]))')
    assert "nested too deeply" in deep
    assert not any("evil.py" in path for path in hub.asked)


ANSWERS = (ValueError("Expecting value: line 1 column 1"), KeyError("sha"), TypeError("no list"), AttributeError("get"))


@pytest.mark.parametrize("error", ANSWERS)
def test_an_answer_that_is_not_the_hubs_is_one_message(error, monkeypatch):
    """Networks of hotels answer every request with a page of theirs."""
    package = pytest.importorskip("huggingface_hub")

    def info(*given, **named):
        raise error

    monkeypatch.setattr(package.HfApi, "model_info", info)
    with pytest.raises(rote.InputError, match="the Hub does not give or take it"):
        rote.load("hf://me/capitals", download=True)


@pytest.mark.parametrize("name", ["hf://", "hf://me", "hf://me/a/b", "hf://me/a@", "hf://me/a b", "hf://../.."])
def test_names_that_are_no_repository(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(rote.InputError):
        rote.load(name)
    assert is_on_hub(name)


@pytest.mark.parametrize("repo", ["capitals", "me/capitals/more", "", "me/ca pitals"])
def test_a_push_needs_owner_and_name(repo):
    with pytest.raises(rote.InputError, match="owner/name"):
        rote.build(CAPITALS).push_to_hub(repo)


def test_words_of_a_card_are_escaped():
    built = rote.build(CAPITALS)
    card = model_card("me/capitals", Origin(source="<script>|`x`\n# title"), {"method": "[a](b)"}, built.certificate)
    assert "<script>" not in card
    assert r"| facts from | &lt;script>\|\`x\` # title |" in card
    assert r"| method | \[a\](b) |" in card
    assert card.startswith("---\nlibrary_name: rote\n")
