"""Pictures of every page for the documentation, light and dark, wide and phone. Needs Chromium and its driver.

    rote build countries -o shown/countries
    rote reproduce dana2025.fig4 --quick -o shown/fig4
    rote reproduce dana2025.fig4 --quick --protocol best -o shown/fig4-best
    rote sweep --vocab 12 --dim 4 --head-dim 1:4 --heads 1:6 --seeds 2 -o shown/sweep
    rote report shown/countries -o shown/report.html
    python tools/screenshots.py shown docs [NAME...]

A picture is the top of one page, or a part of it, four times: above in light, below in dark, on a wide screen at the
left, on a phone at the right. `page.png` is the planner and a fact, for the README.
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
    "planner-sizes": "/planner?facts=none",
    "runs": "/runs",
    "run": "/runs/view?run=0/fig4",
    "sweep": "/runs/view?run=0/sweep",
    "compare": "/runs/compare?a=0/fig4&b=0/fig4-best",
    "inspector": "/inspector",
    "model": "/inspector/model?model=0/countries&search=france",
    "fact": "/inspector/fact?model=0/countries&words=capital+France",
    "fact-off": "/inspector/fact?model=0/countries&words=capital+France&off=0.12",
}
WIDTHS = (1280, 390)
TALLEST = 1300
"""Of the part of a page that is shown."""
SCALE, COLOURS, GAP = 0.6, 128, 10
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
            for name in wanted or pages:
                pictures = [[_picture(browser, pages[name], width, scheme) for width in WIDTHS]
                            for scheme in ("light", "dark")]  # fmt: skip
                _together(pictures).save(out / f"page-{name}.png", optimize=True)
            if not wanted:
                both = [_picture(browser, pages[name], WIDTHS[0], "light") for name in ("planner", "fact")]
                _together([both]).save(out / "page.png", optimize=True)
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


def _together(pictures: list[list[Image.Image]]) -> Image.Image:
    """Rows of pictures in one, smaller and in few colours, so that the file stays small."""
    heights = [max(picture.height for picture in row) for row in pictures]
    width = max(sum(picture.width for picture in row) + GAP * (len(row) - 1) for row in pictures)
    whole = Image.new("RGB", (width, sum(heights) + GAP * (len(heights) - 1)), "#8a8f96")
    top = 0
    for row, height in zip(pictures, heights, strict=True):
        left = 0
        for picture in row:
            whole.paste(picture, (left, top))
            left += picture.width + GAP
        top += height + GAP
    small = whole.resize((round(whole.width * SCALE), round(whole.height * SCALE)), Image.Resampling.LANCZOS)
    # An octree keeps colours that few pixels have, such as those of verdicts.
    return small.quantize(COLOURS, Image.Quantize.FASTOCTREE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
