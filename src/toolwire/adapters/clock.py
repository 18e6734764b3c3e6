"""The machine's wall time; it does not measure durations."""

import time


class SystemClock:
    """The `Clock` port on the operating system's clock."""

    def now(self) -> float:
        """Unix seconds, UTC."""
        return time.time()
