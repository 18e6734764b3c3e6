import time

from toolwire.adapters.clock import SystemClock


def test_the_system_clock_tells_unix_seconds():
    before = time.time()
    now = SystemClock().now()

    assert before <= now <= time.time()
