"""Schemathesis in an environment of its own, and requests that it makes of a document; it knows no host.

It wants an older jsonschema-rs than the product. `requirements/schemathesis.txt` pins it; `make pins` renews that.
"""

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.running import environment

ROOT = Path(__file__).resolve().parents[2]
PINS = ROOT / "requirements" / "schemathesis.txt"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "negative_data_rejection",
    "missing_required_header",
    "ignored_auth",
)
LIMIT_S = 100.0


def program() -> Path:
    """The command `st`, installed if it is not there yet."""
    cache = ROOT / ".cache" / "schemathesis"
    folder = cache / hashlib.sha256(PINS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    command = folder / "bin" / "st"
    stamp = folder / "installed"
    if stamp.exists():
        return command
    cache.mkdir(parents=True, exist_ok=True)
    _call(sys.executable, "-m", "venv", "--clear", str(folder))
    pip = (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet")
    _call(*pip, "install", "-r", str(PINS))
    stamp.touch()
    return command


def look(url: str, key: str, ids: Mapping[str, str], *options: str, examples: int = 4) -> str:
    """Ask everything that the document at `url` describes, apart from what `options` leave out; what was found.

    Args:
        url: of the host.
        key: sent with all requests; "" for none.
        ids: what stands in the paths, by the parameter's name; for others, anything.
        options: of `st run`.
        examples: requests to one operation beyond those that cover its schema.

    Raises:
        AssertionError: an answer is not as the document says.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "schemathesis.toml"
        named = "".join(f'"path.{name}" = "{value}"\n' for name, value in ids.items())
        settings.write_text(f"[parameters]\n{named}")
        command = [str(program()), "--config-file", str(settings), "run", f"{url}/openapi.json"]
        command += ["--phases", "coverage,fuzzing", "--max-examples", str(examples), "--seed", "1", "--no-color"]
        command += ["--generation-database", "none", "--request-timeout", "10", "--continue-on-failure"]
        command += ["--checks", ",".join(CHECKS), "--warnings", "off", *options]
        if key:
            command += ["--header", f"Authorization: Bearer {key}"]
        done = subprocess.run(
            command, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
        return done.stdout


def _call(*command: str) -> None:
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)} failed: {done.stderr}"
