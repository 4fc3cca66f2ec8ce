"""A small client of Chromium: WebDriver's protocol by the standard library, nothing to install."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def why_not():
    """Say why there is no browser here, if there is none; in CI there must be one."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if not missing or os.environ.get("CI") == "true":
        return ""
    return f"{' and '.join(missing)} not installed: apt-get install chromium chromium-driver"


class Browser:
    """One page of a headless Chromium without a network."""

    def __init__(self, address, process, session):
        self.address, self.process, self.session = address, process, session

    def call(self, path, **content):
        """Send a command and give its value."""
        return _post(f"{self.address}/session/{self.session}/{path}", content)

    def open(self, path):
        """Open a file."""
        self.call("url", url=Path(path).resolve().as_uri())

    def run(self, script, *arguments):
        """Run the body of a function in the page and give what it returns."""
        return self.call("execute/sync", script=script, args=list(arguments))

    def devtools(self, command, **parameters):
        """Send a command of the developer tools."""
        return self.call("goog/cdp/execute", cmd=command, params=parameters)

    def look(self, *, width=1280, dark=False, height=900):
        """Set the width of the page and its colours."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path, **clip):
        """Save a picture of the whole page, or of a part of it."""
        if not clip:
            box = "return [document.documentElement.clientWidth, document.body.scrollHeight]"
            width, height = self.run(box)
            clip = {"x": 0, "y": 0, "width": width, "height": height}
        found = self.devtools(
            "Page.captureScreenshot", captureBeyondViewport=True, clip={"scale": 1, **clip}
        )
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def complaints(self):
        """Give all warnings and errors of the console since the last call."""
        return [entry["message"] for entry in self.call("se/log", type="browser")]


@contextlib.contextmanager
def chromium():
    """Start Chromium with an empty profile and no network, and stop it in the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        log = Path(profile) / "port"
        with log.open("wb") as output:
            process = subprocess.Popen(["chromedriver", "--port=0"], stdout=output)
        try:
            address = f"http://127.0.0.1:{_port(log)}"
            options = {"args": [*FLAGS, f"--user-data-dir={profile}/data"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            made = _post(f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})
            browser = Browser(address, process, made["sessionId"])
            browser.devtools("Network.enable")
            offline = {"offline": True, "latency": 0}
            browser.devtools(
                "Network.emulateNetworkConditions",
                **offline,
                downloadThroughput=0,
                uploadThroughput=0,
            )
            yield browser
            urllib.request.urlopen(
                urllib.request.Request(f"{address}/session/{browser.session}", method="DELETE"),
                timeout=60,
            ).close()
        finally:
            process.terminate()
            process.wait()


def _port(log):
    """Wait until the driver says at which port it listens."""
    for _ in range(300):
        words = log.read_text().split()
        if "successfully" in words:
            return int(words[-1].rstrip("."))
        time.sleep(0.1)
    raise TimeoutError(f"chromedriver does not start: {log.read_text()}")


def _post(address, content):
    data = json.dumps(content).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.load(reply)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(json.load(error)["value"]["message"]) from None
