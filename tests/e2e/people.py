"""A person at the consent page: in Chromium where the machine has one, else by a browser of ours without a screen.

Chromium is Debian's package, driven by Playwright from the lock file of `browser/`. The page needs no script, so that
whoever sends its forms as a browser does goes the same way. Neither asserts anything.
"""

import contextlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx2
from msgspec import Struct

from tests.node_packages import ROOT, Installed, install

HERE = Path(__file__).resolve().parent / "browser"
LIMIT_S = 90.0


class Answered(Struct, frozen=True):
    """Where the browser was sent, what the page asked before, and what the browser complained of."""

    sent: str
    question: str
    complaints: list[str] = []


class PlainBrowser:
    """Fills in forms and follows redirects, and runs no script."""

    name = "plain"

    def answer(self, url: str, owner_key: str, button: str = "allow") -> Answered:
        """Open `url`, sign in, press a button, and go where the client waits."""
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        with httpx2.Client(timeout=30, trust_env=False, headers={"accept-language": "en"}) as client:
            page = client.get(url)
            sent = self._send(client, url, page, {"action": "sign_in", "owner_key": owner_key}, origin)
            page = client.get(urljoin(url, sent.headers["location"]))
            picked = re.findall(r'name="agent" value="([^"]+)" checked', page.text)
            token = re.findall(r'name="token" value="([^"]+)"', page.text)[0]
            sent = self._send(client, url, page, {"action": button, "token": token, "agent": picked}, origin)
            there = sent.headers["location"]
            with contextlib.suppress(httpx2.TransportError):  # a client that is handed the address has no server there
                client.get(there)
        return Answered(there, re.sub(r"<[^>]+>", " ", page.text))

    def _send(
        self, client: httpx2.Client, url: str, page: httpx2.Response, form: dict[str, str | list[str]], origin: str
    ) -> httpx2.Response:
        assert page.status_code == 200, page.text
        sent = client.post(url, data=form, headers={"origin": origin})
        assert sent.status_code == 303, sent.text
        return sent


class Chromium:
    """Chromium without a screen."""

    name = "chromium"

    def __init__(self, program: str, found: Installed) -> None:
        self._program = program
        self._found = found

    def answer(self, url: str, owner_key: str, button: str = "allow", picture: Path | None = None) -> Answered:
        """Open `url`, sign in, press a button, and go where the client waits."""
        script = str(self._found.folder / "consent.mjs")
        more = [] if picture is None else [str(picture)]
        command = [str(self._found.node), script, self._program, url, owner_key, button, *more]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        return Answered(said["sent"], said["question"], said["complaints"])


Person = PlainBrowser | Chromium


def person_here() -> Person:
    """A person with the best browser that this machine has."""
    program = shutil.which("chromium")
    return PlainBrowser() if program is None else Chromium(program, install(HERE, "browser", ("consent.mjs",)))
