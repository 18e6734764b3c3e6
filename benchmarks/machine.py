"""Reads and sets what the machine does: cores, priority, CPU time.  Linux only, as the load generator is."""

import os
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
BUSY_SHARE = 0.10
"""Share of one core that other programs may use before a measurement is called noisy."""


def set_nice(pid: int, nice: int) -> None:
    """Set the niceness of a process, and that of its session where the kernel schedules sessions before processes."""
    os.setpriority(os.PRIO_PROCESS, pid, nice)
    group = Path(f"/proc/{pid}/autogroup")
    if group.exists():
        group.write_text(str(nice))


@contextmanager
def pinned(core: int) -> Generator[None]:
    """Pin this process to one core for a moment, so that what it starts meanwhile inherits it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cores() -> list[int]:
    """Return the cores this process may use, lowest first."""
    return sorted(os.sched_getaffinity(0))


def cpu_seconds(pids: Collection[int]) -> tuple[float, float]:
    """Return the seconds of some processes and their living children: in user mode, and in both modes."""
    user = ticks = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(entry) in pids or int(fields[1]) in pids:
            user += int(fields[11])
            ticks += int(fields[11]) + int(fields[12])
    return user / TICKS_PER_SECOND, ticks / TICKS_PER_SECOND


def busy_seconds() -> float:
    """Return the CPU seconds spent by the whole machine: user, nice, system, interrupts and stolen time."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:8])) / TICKS_PER_SECOND


def wait_quiet(limit_s: float) -> None:
    """Wait until the machine is otherwise idle, at most `limit_s` seconds."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        busy, start = busy_seconds(), time.monotonic()
        time.sleep(0.3)
        if (busy_seconds() - busy) / (time.monotonic() - start) < BUSY_SHARE:
            return


def description() -> str:
    """Return the processor's name and the number of cores."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return f"{os.uname().machine}, {os.cpu_count()} cores"
