"""An S3 server of a package's own (moto), in a process of its own; it keeps what is put in memory."""

import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import httpx2

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
BUCKET = "toolwire-test"
_RUNNING = re.compile(r"Running on (http://127\.0\.0\.1:[0-9]+)")


@contextmanager
def s3_server() -> Generator[str]:
    """Its address; the bucket `BUCKET` is there.

    Raises:
        AssertionError: it does not start.
    """
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=environ
    ) as process:
        try:
            url = _url(process)
            made = httpx2.put(f"{url}/{BUCKET}", trust_env=False)
            assert made.status_code == 200, made.text
            yield url
        finally:
            process.kill()


def _url(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if (found := _RUNNING.search(line)) is not None:
            return found[1]
    raise AssertionError(f"the S3 server did not start: {''.join(said)}")
