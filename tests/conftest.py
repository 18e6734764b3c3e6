"""What every test shares: which event loop runs it, and that no property test is timed.

It holds no fixtures of one area: those stand in the conftest.py beside the tests that use them.

An `async def test_…` needs no decorator. It runs on asyncio, the loop of production, unless it is marked:

* `@pytest.mark.both_backends` runs it on asyncio and on trio. Tests of core, wire and engine carry it, as a rule by
  `pytestmark = pytest.mark.both_backends` at the top of the module.
* `@pytest.mark.virtual_time` runs it on trio with a clock that jumps to the next deadline as soon as every task waits.
  A 60 s time-out then takes no time, and `anyio.current_time()` tells how far the clock went:

      @pytest.mark.virtual_time
      async def test_a_call_times_out_after_its_deadline():
          with pytest.raises(TimeoutError), anyio.fail_after(60):
              await anyio.sleep_forever()
          assert anyio.current_time() == 60

  Nothing outside the loop may be waited for in such a test: to the clock, a thread or a socket at work looks idle.

A mark on a function wins over the mark of its module.
"""

from typing import Any

import pytest
from hypothesis import settings
from trio.testing import MockClock

# An example's time says how busy the machine is, no more. What else the profile in force says (CI has its own) stays.
settings.register_profile("toolwire", settings(), deadline=None)
settings.load_profile("toolwire")

_BOTH = ("asyncio", "trio")
_VIRTUAL = ("virtual",)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "anyio_backend" not in metafunc.fixturenames:
        return
    for mark in metafunc.definition.iter_markers():  # closest first
        if mark.name == "virtual_time":
            metafunc.parametrize("anyio_backend", _VIRTUAL, indirect=True)
            return
        if mark.name == "both_backends":
            metafunc.parametrize("anyio_backend", _BOTH, indirect=True)
            return


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The event loop of the test, as the anyio plugin wants it: a backend's name and its options."""
    match getattr(request, "param", "asyncio"):
        case "virtual":
            return "trio", {"clock": MockClock(autojump_threshold=0)}
        case backend:
            return backend, {}
