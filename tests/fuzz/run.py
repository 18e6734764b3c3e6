"""`python -m tests.fuzz.run TARGET [LIBFUZZER FLAGS]`: looks for inputs that break a promise, with atheris.

It begins with the seeds in `corpus/` and keeps what is new in `.cache/fuzz` of the current folder, with `crash-…`, the
input, where it found one: `python -m tests.fuzz.run TARGET .cache/fuzz/crash-…` runs that alone. What is promised is
told in targets.py.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

atheris: Any = importlib.import_module("atheris")  # it has neither types nor, but for Linux on x86-64, wheels

with atheris.instrument_imports(include=["toolwire"]):
    from tests.fuzz.site import open_site
    from tests.fuzz.targets import CORPUS, MAX_INPUT_BYTES, TARGETS

WORDS = Path(__file__).with_name("words.dict")
FOUND = Path(".cache", "fuzz").absolute()


def main() -> None:
    """Fuzz one target until a flag says stop, or something is found: libFuzzer then ends the process with 77."""
    name, *rest = sys.argv[1:] or [""]
    if name not in TARGETS:
        sys.exit(f"usage: python -m tests.fuzz.run {{{','.join(TARGETS)}}} [flags of libFuzzer, such as -runs=100000]")
    kept = FOUND / name
    kept.mkdir(parents=True, exist_ok=True)
    alone = any(not argument.startswith("-") for argument in rest)
    corpus = [] if alone else [str(kept), str(CORPUS / name)]
    flags = ["-timeout=30", "-rss_limit_mb=2048", f"-max_len={MAX_INPUT_BYTES}", f"-dict={WORDS}"]
    target = TARGETS[name]
    with open_site() as site:

        def run(data: bytes) -> None:
            target(site, data)

        atheris.Setup([sys.argv[0], *flags, f"-artifact_prefix={FOUND}/", *rest, *corpus], run)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
