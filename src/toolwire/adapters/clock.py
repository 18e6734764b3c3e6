"""The machine's wall time; it does not measure durations."""

import time


class SystemClock:
    """The `Clock` port on the operating system's clock."""

    now = staticmethod(time.time)
    """Unix seconds, UTC; the system's own function, because it is asked several times for every call."""
