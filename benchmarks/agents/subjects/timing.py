"""What the measured programs share: their arguments, the clock, and how figures are handed back."""

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SLEEP_S = 0.05
"""How long the slow tool sleeps."""


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        scenario: "query", "start", "chat", "loop", "slow" or "pool".
        storage: the path of a SQLite file that is not there yet; empty for memory.
        count: runs, turns, calls or tasks, whatever the scenario counts.
        workers: for "pool", how many turns are worked on at once.
    """

    scenario: str
    storage: str = ""
    count: int = 1
    workers: int = 1


def hand_in(measure: Callable[[Plan], dict[str, float]]) -> None:
    """Be the program: measure what the command line's JSON says and print the figures as JSON."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    print(json.dumps(measure(Plan(**json.loads(sys.argv[1])))))


def blocks(count: int) -> list[tuple[str, int]]:
    """The turns of a conversation as named blocks: the first hundred, the second, those between, the last hundred."""
    if count <= 200:
        return [("first_per_s", count // 2), ("later_per_s", count - count // 2)]
    return [("first_per_s", 100), ("later_per_s", 100), ("between_per_s", count - 300), ("last_per_s", 100)]


def rate(count: int, began: float) -> float:
    """How many a second since `began`, which `time.perf_counter()` gave."""
    return count / (time.perf_counter() - began)


def since_ms(began: float) -> float:
    """Milliseconds since `began`."""
    return (time.perf_counter() - began) * 1000


def echo_rounds(numbers: Sequence[int], call: Callable[[int], Any], text: Callable[[], Any]) -> list[Any]:
    """What a model says in turns of one call and an answer each."""
    return [said for number in numbers for said in (call(number), text())]
