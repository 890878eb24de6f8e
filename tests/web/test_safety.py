"""Safe by default: paths, hosts, uploads and malformed requests get a plain 4xx, and nothing changes on disk."""

from __future__ import annotations

import hashlib
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

PAGES = (
    "/planner", "/planner/numbers", "/planner/plan", "/runs", "/runs/view", "/runs/live", "/runs/compare", "/inspector",
    "/inspector/model", "/inspector/search", "/inspector/live", "/inspector/fact", "/static/app.js",
)  # fmt: skip
NAMES = (
    "run", "a", "b", "model", "words", "row", "off", "page", "order", "search", "facts", "table", "vocab", "context",
    "dim", "head_dim", "heads", "layers", "variant", "dtype", "associations", "vocab_of_table", "context_of_table",
    "key_tokens", "last_tokens", "groups", "answers", "bits", "digest", "parts",
)  # fmt: skip


def contents(folder):
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.fixture(autouse=True)
def nothing_changes(folder):
    before = contents(folder)
    yield
    assert contents(folder) == before


@pytest.mark.parametrize("address", ["/inspector/model?model=", "/runs/view?run=", "/inspector/fact?words=a&model="])
@pytest.mark.parametrize(
    "name",
    [
        "0/../secret", "../secret", "/etc", "0//etc", "0/leads-out", "0/models/../../secret", "1/models", "0/nothing",
        "0/models/small/..", "-1/models", "0/\0", "0/" + "a" * 5000, "0\\..\\secret", "", "x", "0/facts.csv",
    ],
)  # fmt: skip
def test_names_that_lead_out_or_nowhere_are_not_there(client, address, name):
    answer = client.get(address + quote(name, safe=""))
    assert answer.status_code in (400, 404)
    assert 'role="alert"' in answer.text
    assert "parameters" not in answer.text


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80", "[", "a:b:c",
        "localhost@evil.example", "evil.example@localhost", "localhost:99999", "localhost:", "localhost/",
        "localhost?", "local host",
        "localhost.", "http://localhost", "localhost#x", "[::1", "127.1", "localhost,evil.example", "\tlocalhost\x0b",
    ],
)  # fmt: skip
def test_another_host_is_refused(client, host):
    answer = client.get("/planner", headers={"Host": host})
    assert answer.status_code == 400
    assert "answers to" in answer.text


def test_names_of_this_machine_are_answered(client):
    for host in ("localhost", "127.0.0.1:8017", "[::1]:99", "LOCALHOST"):
        assert client.get("/planner", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_every_answer_forbids_inline_scripts_and_other_hosts(client, page):
    answer = client.get(page)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    assert " onclick" not in answer.text


@pytest.mark.parametrize(
    ("name", "data", "status", "message"),
    [
        ("facts.csv", b"a,b,c\n1,2\n", 400, "line 2"),
        ("facts.csv", b"a,b\n1,\xc3\xa9\xff\n", 400, "not UTF-8"),
        ("facts.csv.gz", b"\x1f\x8b\x08", 400, "ends too early"),
        ("facts.xlsx", b"PK no", 400, "not a readable zip archive"),
        ("facts.csv", b"", 400, "empty"),
        ("facts.csv", b"\0" * 2000, 400, "NUL"),
        ("facts.parquet", b"PAR1 no", 400, "not a readable Parquet file"),
        ("facts.exe", b"MZ", 400, "tells no known format"),
        ("facts.csv", b"k,l,a\nx,y,1\nx,y,2\n", 400, "x"),
        ("large.csv", b"a,b,c\n" + b"x,y,z\n" * 1_500_000, 413, "more than 8 MiB"),
    ],
)
def test_a_bad_table_gets_the_readers_own_message(client, name, data, status, message):
    answer = client.post("/planner/table", params={"name": name}, content=data, headers={"Accept": "application/json"})
    assert answer.status_code == status
    assert message in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 400), ({"Origin": "http://localhost"}, 200), ({"Origin": "null"}, 400),
        ({"Origin": "http://localhost:8017"}, 400), ({"Origin": "https://localhost"}, 400), ({}, 200),
        ({"Origin": "http://127.0.0.1"}, 400), ({"Origin": "http://evil.example@localhost"}, 400),
        ({"Sec-Fetch-Site": "cross-site"}, 400), ({"Sec-Fetch-Site": "same-site"}, 400),
        ({"Sec-Fetch-Site": "same-origin"}, 200), ({"Sec-Fetch-Site": "none"}, 200),
    ],
)  # fmt: skip
def test_only_requests_of_the_page_itself_are_answered(client, headers, status):
    sent = {"params": {"name": "f.csv"}, "content": b"a,b,c\n1,2,3\n"}
    assert client.post("/planner/table", headers=headers, **sent).status_code == status
    assert client.get("/planner/numbers", headers=headers).status_code == status


def test_names_from_tables_and_addresses_are_escaped(client):
    evil = "<script>alert(1)</script>.csv"
    answer = client.post("/planner/table", params={"name": evil}, content=b"k,l,a\n1,2,3\n1,3,4\n")
    page = client.get(answer.json()["address"]).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in client.get("/planner", params={"facts": evil}).text
    assert "<script>alert" not in client.get("/inspector/fact", params={"model": "0/models/small", "words": evil}).text


values = st.one_of(
    st.text(max_size=40),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(
        ["0/models/small", "0/fig4", "0/../x", "1e999", "-1", "0", "9" * 40, "0.0,0.1", "0.99", "..", "%00"]
    ),
)
queries = st.dictionaries(st.sampled_from(NAMES), values, max_size=6)


pages = st.one_of(
    st.sampled_from(PAGES), st.text(alphabet="/.%abc0", max_size=20).map(lambda text: "/" + text.lstrip("/"))
)
methods = st.sampled_from(["GET", "GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD"])


# Plans that the page makes meanwhile draw from `random` in a thread of their own, which looks like the strategies do.
# Ten requests at a time: drawing an example costs more than a request.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@settings(max_examples=200)
@given(requests=st.lists(st.tuples(methods, pages, queries), min_size=10, max_size=10))
def test_two_thousand_generated_requests_never_fail(client, requests):
    for method, page, query in requests:
        answer = client.request(method, f"{page}?{urlencode(query, errors='replace')}")
        assert answer.status_code < 500


@settings(max_examples=100)
@given(
    name=st.text(max_size=20),
    suffix=st.sampled_from([".csv", ".jsonl", ".parquet", ".tsv", ""]),
    data=st.binary(max_size=300),
)
def test_generated_tables_never_fail(client, name, suffix, data):
    query = urlencode({"name": name + suffix}, errors="replace")
    assert client.post(f"/planner/table?{query}", content=data).status_code < 500
