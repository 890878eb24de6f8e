"""The pages in a real browser: what a person would see and do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from rote.cli import main
from rote.theory.bound import SAYS


def until(browser, check, seconds=60):
    """The first true answer of a check; what is on the page may be replaced while it looks."""
    from selenium.common.exceptions import StaleElementReferenceException

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if answer := check():
                return answer
        except StaleElementReferenceException:
            pass
        time.sleep(0.05)
    raise AssertionError(browser.find_element(By.TAG_NAME, "main").text[:2000])


def said(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def shown(number):
    return "-" if number is None else f"{number:,}"


def plan_rows(browser):
    """The rows of the plan as the page shows them, once they are there."""
    until(browser, lambda: browser.find_elements(By.ID, "plan-table"), 120)
    cells = (
        "return [...document.querySelectorAll('#plan-table .plan-row')].map(r => [...r.cells].map(c => c.innerText))"
    )
    return browser.execute_script(cells)


def as_shown(row):
    """A row of `rote plan --json` as the page shows it."""
    model = row["model"] + (f"\n{row['command']}" if row["command"] else "")
    reason = row["reason"] + (f"; {row['note']}" if row["note"] else "")
    mark = "~" if row["section"] == "estimates" and row["bytes"] else ""
    sizes = [f"{mark}{shown(row['bytes'])}", shown(row["weights"]), shown(row["parameters"])]
    return [row["id"], *sizes, row["kind"], model, reason]


@pytest.fixture(scope="module")
def countries_plan(site):
    """What `rote plan countries --json` says: it builds, so it starts with the first test and is read by the last."""
    urlopen(f"{site.address}/planner").read()  # the server begins as well
    command = [sys.executable, "-m", "rote", "plan", "countries", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}) as planning:
        yield planning
        planning.kill()


def bounds_shown(browser):
    return {
        row.find_element(By.TAG_NAME, "th").text: [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
        for row in browser.find_elements(By.CSS_SELECTOR, "#bounds-table tbody tr")
    }


def bounds_said(capsys, **sizes):
    flags = [word for name, size in sizes.items() for word in (f"--{name.replace('_', '-')}", str(size))]
    return {
        bound["id"]: [
            shown(bound["associations"]),
            SAYS[bound["kind"]],
            bound["about"] if bound["matched"] else "this model",
            shown(bound["parameters"]),
        ]
        for bound in said(capsys, "bounds", *flags)
        if bound["applies"]
        and not (bound["capped"] and bound["section"] in ("other architectures", "orders and estimates"))
    }


def test_sizes_alone_show_what_bound_says_and_that_there_is_no_plan(browser, site, capsys, countries_plan):
    browser.get(f"{site.address}/planner?facts=none&vocab=50&context=2&dim=10&head_dim=10&heads=20")
    assert bounds_shown(browser) == bounds_said(capsys, vocab=50, context=2, dim=10, head_dim=10, heads=20)
    assert not browser.find_elements(By.ID, "plan")
    assert "there is no plan" in browser.find_element(By.ID, "numbers").text
    heading = browser.find_element(By.ID, "theory-heading")
    assert heading.text == "Theory's sizes for 210 facts, without a table"
    browser.find_element(By.CSS_SELECTOR, "input[data-for=associations]").send_keys(Keys.ARROW_RIGHT)
    until(browser, lambda: "211 facts" in browser.find_element(By.ID, "theory-heading").text)


def test_a_slider_moves_chart_numbers_and_address_and_the_address_shows_the_same(browser, site):
    browser.get(f"{site.address}/planner")
    before = browser.find_element(By.ID, "numbers").get_attribute("innerHTML")
    parameters = browser.find_element(By.ID, "parameters").text
    slider = browser.find_element(By.CSS_SELECTOR, "input[data-for=heads]")
    slider.send_keys(Keys.ARROW_RIGHT)
    until(browser, lambda: browser.find_element(By.ID, "parameters").text != parameters)
    assert "heads=66" in browser.current_url
    assert browser.find_element(By.ID, "heads").get_attribute("value") == "66"
    after = browser.find_element(By.ID, "numbers").find_element(By.CSS_SELECTOR, "svg").get_attribute("innerHTML")
    assert after not in before
    tiles = browser.find_element(By.CSS_SELECTOR, ".tiles").text
    browser.get(browser.current_url)
    assert browser.find_element(By.CSS_SELECTOR, ".tiles").text == tiles
    assert (
        browser.find_element(By.ID, "numbers").find_element(By.CSS_SELECTOR, "svg").get_attribute("innerHTML") == after
    )


def test_sizes_that_make_no_sense_say_why_on_the_page(browser, site):
    browser.get(f"{site.address}/planner?vocab=50&context=2&dim=10&head_dim=10&heads=20")
    field = browser.find_element(By.ID, "head_dim")
    field.send_keys(Keys.END, "0")
    problem = browser.find_element(By.ID, "problem")
    until(browser, problem.is_displayed)
    assert "exceeds" in problem.text


def test_a_dropped_table_gives_its_plan_and_a_broken_one_the_readers_message(
    browser, site, tmp_path, capsys, monkeypatch
):
    path = tmp_path / "mine.csv"
    path.write_text("a,b,c\n" + "".join(f"{a},{b},{(a * b) % 7}\n" for a in range(9) for b in range(9)))
    broken = tmp_path / "broken.csv"
    broken.write_text("a,b,c\n1,2,3\n1,2\n")
    browser.get(f"{site.address}/planner?facts=none")
    browser.find_element(By.ID, "file").send_keys(str(broken))
    problem = browser.find_element(By.ID, "problem")
    until(browser, problem.is_displayed)
    assert main(["plan", str(broken)]) == 2
    message = capsys.readouterr().err.removeprefix("rote: ").strip().replace(str(broken), "broken.csv")
    assert " ".join(problem.text.split()) == " ".join(message.split())
    drop = """
        const held = new DataTransfer();
        held.items.add(new File([arguments[0]], "mine.csv"));
        document.getElementById("drop").dispatchEvent(new DragEvent("drop", {dataTransfer: held, cancelable: true}));
    """
    browser.execute_script(drop, path.read_text())
    until(browser, lambda: "table=mine.csv" in browser.current_url)
    assert browser.find_element(By.ID, "fact-count").text == "81"
    monkeypatch.chdir(tmp_path)
    expected = [as_shown(row) for row in said(capsys, "plan", "mine.csv")]
    shown = plan_rows(browser)
    # A folder names its table, and the server keeps a dropped one under another name.
    for row in (*shown, *expected):
        row.pop(1)
    assert sorted(shown) == sorted(expected)
    # The same address in a server that never saw the table: theory needs its sizes alone, and the page says so.
    browser.get(re.sub("digest=[0-9a-f]+", "digest=0", browser.current_url))
    assert browser.find_element(By.ID, "fact-count").text == "81"
    assert "drop mine.csv again" in browser.find_element(By.ID, "plan").text


def test_a_sweep_started_on_the_command_line_shows_moving_progress(browser, site):
    sizes = ["--vocab", "12", "--dim", "4", "--head-dim", "1:4", "--heads", "1:30", "--seeds", "40"]
    command = [sys.executable, "-m", "rote", "sweep", *sizes, "-o", "going"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.Popen(
        command, cwd=site.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(browser, lambda: (site.folder / "going" / "ledger.sqlite").exists(), 120)
        browser.get(f"{site.address}/runs")
        until(
            browser,
            lambda: browser.get(f"{site.address}/runs/view?run=0/going") or browser.find_elements(By.ID, "ended"),
        )
        counts = set()

        def moved():
            counts.add(browser.find_element(By.ID, "ended").text)
            return len(counts) > 1

        until(browser, moved, 120)
        assert all("of" in count for count in counts)
    finally:
        run.kill()
        run.wait()


def test_contributions_sum_to_the_logit_and_heads_off_lose_what_is_said(browser, site, capsys):
    browser.get(f"{site.address}/inspector")
    until(browser, lambda: browser.find_elements(By.PARTIAL_LINK_TEXT, "models/small"))[0].click()
    browser.find_element(By.ID, "search").send_keys("colour c")
    until(browser, lambda: browser.find_elements(By.PARTIAL_LINK_TEXT, "colour c → c2"))[0].click()
    logit = float(browser.find_element(By.ID, "logit").get_attribute("data-value"))
    parts = browser.find_elements(By.CSS_SELECTOR, "#parts tr.part td[data-value]")
    total = sum(float(part.get_attribute("data-value")) for part in parts)
    assert total == pytest.approx(logit, abs=1e-4)
    assert browser.find_element(By.CSS_SELECTOR, "svg[aria-label^='attention']")
    browser.find_element(By.LINK_TEXT, "off").click()
    count = until(browser, lambda: browser.find_elements(By.ID, "lost-count"))[0].text
    off = browser.find_element(By.ID, "off").get_attribute("value")
    assert main(["inspect", str(site.folder / "models" / "small"), "--off", off, "--json"]) == 0
    lost = json.loads(capsys.readouterr().out)["facts_lost"]
    assert int(count) == len(lost)
    for detail in browser.find_elements(By.CSS_SELECTOR, "#lost details"):
        detail.click()
    listed = [item.text for item in browser.find_elements(By.CSS_SELECTOR, "#lost-list li")]
    assert listed == [fact.replace("->", "→") for fact in lost]


@pytest.mark.parametrize("page", ["/planner", "/runs", "/inspector/model?model=0/models/small"])
def test_pages_are_as_narrow_as_a_phone_and_follow_dark(browser, site, page):
    try:
        metrics = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        grounds = []
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            browser.get(site.address + page)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
            grounds.append(browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color"))
        assert grounds[0] != grounds[1]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_keyboard_reaches_the_content_and_every_slider(browser, site):
    browser.get(f"{site.address}/planner")
    ActionChains(browser).send_keys(Keys.TAB).perform()
    assert browser.switch_to.active_element.text == "To the content"
    names = set()
    for _ in range(40):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        names.add(browser.switch_to.active_element.accessible_name)
    assert {"vocabulary N, slider", "heads H, slider", "vocabulary N", "A real table"} <= names


def test_the_demos_report_opens_from_disk_with_the_network_off(browser, tmp_path, capsys):
    assert main(["demo", "-o", str(tmp_path / "demo"), "--json"]) == 0
    path = Path(json.loads(capsys.readouterr().out)["report"])
    assert path.stat().st_size < 3 * 2**20
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    try:
        browser.execute_cdp_cmd("Network.enable", {})
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": True})
        browser.get(path.as_uri())
        charts = browser.find_elements(By.CSS_SELECTOR, "svg.chart")
        assert len(charts) > 8
        assert all(chart.size["height"] > 40 for chart in charts)
        assert browser.execute_script("return document.querySelectorAll('svg title').length") > 100
        assert "every statement holds" in browser.find_element(By.TAG_NAME, "main").text
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": False})


def test_the_planner_opens_with_countries_and_shows_exactly_what_plan_says(browser, site, countries_plan):
    browser.get(f"{site.address}/planner")
    assert browser.find_element(By.ID, "fact-count").text == "987"
    rows = plan_rows(browser)
    assert rows == [as_shown(row) for row in json.loads(countries_plan.communicate()[0])]
    assert len(rows) > 15
