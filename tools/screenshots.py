"""Pictures of every page for the documentation, light and dark, wide and phone. Needs Chromium and its driver.

    python tools/screenshots.py FOLDER docs

FOLDER holds a model folder `countries` and a run `fig4`; the second argument is where pictures go.
"""

from __future__ import annotations

import base64
import io
import sys
import threading
import time
from pathlib import Path

import uvicorn
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from rote.web.app import make_app

PAGES = {
    "planner": "/planner",
    "runs": "/runs",
    "run": "/runs/view?run=0/fig4",
    "compare": "/runs/compare?a=0/fig4&b=0/fig4",
    "inspector": "/inspector",
    "model": "/inspector/model?model=0/countries&search=france",
    "fact": "/inspector/fact?model=0/countries&words=capital+France",
    "fact-off": "/inspector/fact?model=0/countries&words=capital+France&off=0.12",
}
WIDTHS = (1280, 390)
HEIGHT = 900
"""Of a picture in the documentation."""
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]


def main(folder: str, out: str, wanted: list[str]) -> None:
    server = uvicorn.Server(
        uvicorn.Config(make_app([folder]), port=0, log_level="warning", timeout_graceful_shutdown=2)
    )
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.binary_location = "/usr/bin/chromium"
    browser = webdriver.Chrome(options, Service("/usr/bin/chromedriver"))
    report = (Path(folder) / "report.html").resolve()
    pages = {name: f"http://127.0.0.1:{port}{address}" for name, address in PAGES.items()}
    if report.is_file():
        pages["report"] = report.as_uri()
    for name, address in pages.items():
        if wanted and name not in wanted:
            continue
        browser.get(address)
        until = time.monotonic() + 60
        while browser.find_elements("css selector", "[data-again='1']") and time.monotonic() < until:
            time.sleep(0.5)
        browser.refresh()
        pictures = [_picture(browser, width, scheme) for width in WIDTHS for scheme in ("light", "dark")]
        _together(pictures).save(Path(out, f"page-{name}.png"), optimize=True)
    browser.quit()
    server.should_exit = True


def _picture(browser: webdriver.Chrome, width: int, scheme: str) -> bytes:
    """The top of the page, at most two screens high."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    time.sleep(0.3)
    whole = browser.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(whole, 1900), "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    return base64.b64decode(shot["data"])


def _together(pictures: list[bytes]) -> Image.Image:
    """Pictures side by side at one height, in few colours, so that the file stays small."""
    opened = [Image.open(io.BytesIO(picture)).convert("RGB") for picture in pictures]
    tallest = max(picture.height for picture in opened)
    scale = HEIGHT / tallest
    scaled = [picture.resize((round(picture.width * scale), round(picture.height * scale))) for picture in opened]
    whole = Image.new("RGB", (sum(picture.width for picture in scaled) + 12 * (len(scaled) - 1), HEIGHT), "#888888")
    left = 0
    for picture in scaled:
        whole.paste(picture, (left, 0))
        left += picture.width + 12
    return whole.quantize(96)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
