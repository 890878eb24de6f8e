"""Pages without a browser: the numbers are those of the library, every page has a title and a way back."""

from __future__ import annotations

import re
import time
from html import unescape

import pytest

import rote
from rote.folders import read_folder
from rote.measure.head_use import facts_lost, head_table
from rote.tasks.facts import facts, facts_in

PAGES = (
    "/planner", "/runs", "/runs/view?run=0/fig4", "/runs/compare?a=0/fig4&b=0/fig4", "/inspector",
    "/inspector/model?model=0/models/small", "/inspector/fact?model=0/models/small&words=colour+c", "/nothing",
)  # fmt: skip


def eventually(client, address, text):
    """The page once it shows the text: results that take long arrive later."""
    until = time.monotonic() + 60
    while text not in (shown := client.get(address).text) and time.monotonic() < until:
        time.sleep(0.2)
    assert text in shown
    return shown


def shown(fact):
    return str(fact).replace("->", "→")


@pytest.mark.parametrize("address", PAGES)
def test_every_page_has_a_title_a_language_a_way_back_and_loads_only_its_own(client, address):
    text = client.get(address).text
    assert re.search(r"<title>[^<]+ · rote</title>", text)
    assert '<html lang="en">' in text
    assert 'href="/planner"' in text
    assert text.count("<h1>") == 1
    assert re.findall(r'(?:src|href)="(?!/|#|\?|")[^"]*"', text) == []
    for field in re.findall(r'<input type="(?:number|search)" id="(\w+)"', text):
        assert f'for="{field}"' in text


def test_home_leads_to_the_planner_with_countries(client):
    assert client.get("/").headers["location"] == "/planner"
    assert '<dd id="fact-count">987</dd>' in client.get("/planner").text


def test_a_table_becomes_an_address_that_shows_its_plan(client):
    from rote.experiments.sizing.plan import plan

    rows = "".join(f"{a},{b},{(a * b) % 7}\n" for a in range(5) for b in range(5))
    data = f"a,b,c\n{rows}".encode()
    answer = client.post("/planner/table?name=mine.csv", content=data)
    text = unescape(eventually(client, answer.json()["address"], "plan-table"))
    task = facts_in(data, "mine.csv")
    shown = re.findall(r'<tr class="plan-row"><th scope="row">([^<]+)</th><td class="number">([^<]+)</td>', text)
    marks = {"estimates": "~"}
    expected = [
        (row.id, "-" if row.bytes is None else f"{marks.get(row.section, '')}{row.bytes:,}") for row in plan(task)
    ]
    assert shown == expected
    assert "rote plan mine.csv" in text
    assert "rote build mine.csv --method dana2025.theorem1 -o model" in text


def test_a_table_that_was_not_dropped_here_has_theory_and_no_plan(client):
    answer = client.post("/planner/table?name=mine.csv", content=b"a,b,c\n1,2,3\n1,3,4\n2,3,5\n")
    text = client.get(re.sub("digest=[0-9a-f]+", "digest=0", answer.json()["address"])).text
    assert "drop mine.csv again" in text
    assert "bytes against facts" in text


def test_only_the_last_few_tables_are_kept():
    from rote.web.facts_choice import MOST_TABLES, Tables

    tables = Tables()
    shape = facts("random:vocab=6,context=2,facts=9,seed=1").shape
    digests = [
        tables.keep(f"a,b,c\n1,2,{number}\n".encode(), "t.csv", shape).digest for number in range(MOST_TABLES + 1)
    ]
    assert len(set(digests)) == MOST_TABLES + 1
    assert [tables.table(digest) is None for digest in digests] == [True] + [False] * MOST_TABLES


def test_more_facts_than_contexts_are_refused_without_a_table(client):
    answer = client.get("/planner?facts=none&vocab=3&context=2&associations=10")
    assert answer.status_code == 400
    assert "3 tokens spell only 9 contexts" in answer.text


def test_the_model_page_shows_margins_heads_and_facts(client, folder):
    text = eventually(client, "/inspector/model?model=0/models/small", "heads-table")
    model, task = read_folder(folder / "models" / "small").model, facts(folder / "facts.csv")
    table = head_table(model, task)
    weakest = task[int(table.by_margin()[0])]
    assert unescape(text).index(shown(weakest)) < unescape(text).index("Ablation impact of each head")
    most = max(use.loses for use in table.heads)
    assert f'<td class="number">{most}</td>' in text
    assert f"layer 0, head {table.heads[-1].head}: {table.heads[-1].loses}<" in text
    found = client.get("/inspector/search", params={"model": "0/models/small", "search": "colour c"}).text
    assert unescape(found).count("colour c →") == 1


def test_switching_off_a_head_tells_exactly_the_facts_that_are_lost(client, folder):
    model, task = read_folder(folder / "models" / "small").model, facts(folder / "facts.csv")
    address = "/inspector/fact?model=0/models/small&row=2&off=0.0,0.1"
    text = unescape(eventually(client, address, "lost-count"))
    lost = facts_lost(model, task, [(0, 0), (0, 1)])
    assert f'<b id="lost-count">{len(lost)}</b>' in text
    listed = text[text.index("lost-list") :].split("</ul>")[0] if len(lost) else ""
    for row in range(task.facts):
        assert (f">{shown(task[row])}<" in listed) == (row in lost)


def test_a_run_shows_its_figure_verdicts_and_commands(client):
    text = unescape(eventually(client, "/runs/view?run=0/fig4", "Make each number again"))
    for shown in ("6 of 6", "fit a + b x", "Rule: ", "rote reproduce dana2025.fig4", "<progress"):
        assert shown in text
    assert "Cells that both have" in client.get("/runs/compare?a=0/fig4&b=0/fig4").text


def test_a_model_written_anew_is_read_anew(client, tmp_path):
    from fastapi.testclient import TestClient

    from rote.web.app import make_app

    rote.build("random:vocab=6,context=2,facts=9,seed=1").save(tmp_path / "model")
    with TestClient(make_app([tmp_path]), base_url="http://localhost") as client:
        assert "9 of 9" in client.get("/inspector/model?model=0/model").text
        rote.build("random:vocab=6,context=2,facts=12,seed=1").save(tmp_path / "model", overwrite=True)
        assert "12 of 12" in client.get("/inspector/model?model=0/model").text
        client.app.state.workers.close()


def test_facts_outside_the_folders_are_not_read(folder):
    from fastapi.testclient import TestClient

    from rote.web.app import make_app

    with TestClient(make_app([folder / "models"]), base_url="http://localhost") as client:
        assert "not below the folders" in client.get("/inspector/model?model=0/small").text
        client.app.state.workers.close()


def test_too_much_at_once_is_refused(client):
    import threading

    from rote.web.jobs import MOST_WAITING, Busy, Jobs

    jobs, gate = Jobs(), threading.Event()
    for number in range(MOST_WAITING):
        jobs.ask(number, lambda progress: gate.wait(30))
    with pytest.raises(Busy, match="try again"):
        jobs.ask("one more", lambda progress: None)
    gate.set()
