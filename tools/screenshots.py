"""Pictures of the pages for the documentation, one crop each. Needs Chromium and its driver.

    rote build countries --method dana2025.theorem1 -o shown/countries
    rote reproduce dana2025.fig4 --quick -o shown/fig4
    rote reproduce dana2025.fig4 --quick --protocol best -o shown/fig4-best
    rote sweep --vocab 12 --dim 4 --head-dim 1:4 --heads 1:6 --seeds 2 -o shown/sweep
    rote report shown/countries -o shown/report.html
    python tools/screenshots.py shown docs [NAME...]

A picture is the top of one page, or of a part of it, on a screen of 1,100 pixels, light; `page-phone.png` is a
fact on a phone, dark.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PAGES = {
    "planner": "/planner",
    "plan": "/planner#plan-heading",
    "run": "/runs/view?run=0/fig4",
    "sweep": "/runs/view?run=0/sweep",
    "compare": "/runs/compare?a=0/fig4&b=0/fig4-best",
    "model": "/inspector/model?model=0/countries&search=france",
    "fact": "/inspector/fact?model=0/countries&words=capital+France",
    "fact-off": "/inspector/fact?model=0/countries&words=capital+France&off=0.12",
}
WIDTH, PHONE = 1100, 390
TALLEST = 760
"""Of the part of a page that is shown."""
COLOURS = 128
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--hide-scrollbars",
)  # fmt: skip


def main(folder: Path, out: Path, wanted: list[str]) -> None:
    command = [sys.executable, "-m", "rote", "serve", str(folder), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as server:
        said = ""
        while server.stdout and not said.rstrip().endswith("}"):
            said += server.stdout.readline()
        address = json.loads(said)["address"]
        pages = {name: address + path for name, path in PAGES.items()}
        pages["report"] = (folder / "report.html").resolve().as_uri()
        browser = _browser()
        try:
            for name in wanted or [*pages, "phone"]:
                view = ("fact", PHONE, "dark") if name == "phone" else (name, WIDTH, "light")
                picture = _picture(browser, pages[view[0]], *view[1:])
                # An octree keeps colours that few pixels have, such as those of verdicts.
                small = picture.quantize(COLOURS, Image.Quantize.FASTOCTREE)
                small.save(out / f"page-{name}.png", optimize=True)
        finally:
            browser.quit()
            server.terminate()


def _browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options, Service(shutil.which("chromedriver") or ""))


def _picture(browser: webdriver.Chrome, address: str, width: int, scheme: str) -> Image.Image:
    """The top of a page, once nothing on it is being computed."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    metrics = {"width": width, "height": 400, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(address)
    until = time.monotonic() + 120
    while browser.find_elements("css selector", "[data-again='1']") and time.monotonic() < until:
        time.sleep(0.3)
    time.sleep(0.3)
    whole = browser.execute_script("return document.documentElement.scrollHeight")
    place = address.partition("#")[2]
    top = browser.find_element("id", place).location["y"] - 20 if place else 0
    clip = {"x": 0, "y": top, "width": width, "height": min(whole - top, TALLEST), "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    return Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
