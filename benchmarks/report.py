"""Turns measurements into the Markdown tables that are printed and the JSON that is kept.  It measures nothing."""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.cases import BASELINE, CASES, FASTMCP, STDIO_REFERENCE
from benchmarks.machine import BUSY_SHARE
from benchmarks.measure import Measurement

TARGET_CONNS = 16
"""The concurrency at which Toolwire's targets are stated."""

SHORT = {BASELINE.name: "mcp", FASTMCP.name: "FastMCP", STDIO_REFERENCE.name: "mcp stdio"}

Figure = Callable[[Measurement], float]


def markdown(measurements: Sequence[Measurement]) -> str:
    """Return the table of figures (medians of the rounds) and the table of ratios, with what spoils them below."""
    names = list(dict.fromkeys(row.case for row in measurements))
    levels = sorted({row.conns for row in measurements})
    parts = [_figures(measurements, names, levels), _ratios(measurements, names, levels)]
    notes = _notes(measurements)
    return "\n\n".join([*parts, *notes])


def summary(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Return one object a case and concurrency: medians, and the ratio to the baseline with its range."""
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(row.case for row in measurements):
        for conns in sorted({row.conns for row in measurements}):
            mine = _of(measurements, name, conns)
            ratios = _ratios_by_round(measurements, name, BASELINE.name, conns)
            if not mine:
                continue
            rows.append(
                {
                    "case": name,
                    "conns": conns,
                    "rps": _median(mine, lambda row: row.rps),
                    "p50_ms": _median(mine, lambda row: row.p50_ms),
                    "p99_ms": _median(mine, lambda row: row.p99_ms),
                    "cpu_us": _median(mine, lambda row: row.cpu_us),
                    "user_us": _median(mine, lambda row: row.user_us),
                    "errors": sum(row.errors for row in mine),
                    "ratio": statistics.median(ratios) if ratios else None,
                    "ratio_range": [min(ratios), max(ratios)] if ratios else None,
                }
            )
    return rows


def _figures(measurements: Sequence[Measurement], names: list[str], levels: list[int]) -> str:
    head = [
        "case",
        *(f"c={conns} {figure}" for conns in levels for figure in ("req/s", "p50 ms", "p99 ms", "CPU µs", "user µs")),
    ]
    rows: list[list[str]] = []
    for name in names:
        row = [name]
        for conns in levels:
            mine = _of(measurements, name, conns)
            row.append(f"{_median(mine, lambda found: found.rps):,.0f}")
            row.append(f"{_median(mine, lambda found: found.p50_ms):.2f}")
            row.append(f"{_median(mine, lambda found: found.p99_ms):.2f}")
            row.append(f"{_median(mine, lambda found: found.cpu_us):.0f}")
            row.append(f"{_median(mine, lambda found: found.user_us):.0f}")
        rows.append(row)
    return _table(head, rows)


def _ratios(measurements: Sequence[Measurement], names: list[str], levels: list[int]) -> str:
    references = [(BASELINE.name, conns) for conns in levels]
    if TARGET_CONNS in levels:
        references += [(name, TARGET_CONNS) for name in (FASTMCP.name, STDIO_REFERENCE.name) if name in names]
    by_cpu = f"× {SHORT[BASELINE.name]} by CPU c={TARGET_CONNS}"
    head = ["case", *(f"× {SHORT[name]} c={conns}" for name, conns in references), by_cpu, f"asked at c={TARGET_CONNS}"]
    rows: list[list[str]] = []
    for name in names:
        spreads = [_spread(_ratios_by_round(measurements, name, reference, conns)) for reference, conns in references]
        verdicts = [f"{text} {'met' if met else 'MISSED'}" for text, met in _verdicts(measurements, name)]
        thrift = _ratios_by_round(measurements, name, BASELINE.name, TARGET_CONNS, lambda row: 1 / row.cpu_us)
        rows.append([name, *spreads, _spread(thrift), ", ".join(verdicts)])
    return _table(head, rows)


def missed(measurements: Sequence[Measurement]) -> list[str]:
    """Return what Toolwire asks of itself and did not reach, one line each; what was not measured is not missed."""
    names = dict.fromkeys(row.case for row in measurements)
    return [f"{name}: {text}" for name in names for text, met in _verdicts(measurements, name) if not met]


def _verdicts(measurements: Sequence[Measurement], name: str) -> list[tuple[str, bool]]:
    mine = _of(measurements, name, TARGET_CONNS)
    target = {case.name: case.target for case in CASES}[name]
    found: list[tuple[str, bool]] = []
    wanted = (
        (BASELINE.name, target.baseline),
        (FASTMCP.name, target.fastmcp),
        (STDIO_REFERENCE.name, target.stdio),
    )
    for reference, least in wanted:
        ratios = _ratios_by_round(measurements, name, reference, TARGET_CONNS)
        if least is not None and ratios:
            found.append((f"≥ {least:g} × {SHORT[reference]}", statistics.median(ratios) >= least))
    if target.p99_ms is not None and mine:
        found.append((f"p99 ≤ {target.p99_ms:g} ms", _median(mine, lambda row: row.p99_ms) <= target.p99_ms))
    return found


def _notes(measurements: Sequence[Measurement]) -> list[str]:
    notes = [
        f"{row.errors} errors: {row.case}, c={row.conns}, round {row.round + 1}: {row.first_error}"
        for row in measurements
        if row.errors
    ]
    noisy = sum(row.other_cpu >= BUSY_SHARE for row in measurements)
    if noisy:
        notes.append(
            f"{noisy} of {len(measurements)} measurements shared the machine with other programs "
            f"(more than {BUSY_SHARE:.0%} of a core): read the ratios, not the figures."
        )
    return notes


def _ratios_by_round(
    measurements: Sequence[Measurement], name: str, reference: str, conns: int, figure: Figure = lambda row: row.rps
) -> list[float]:
    """Return one ratio a round: neighbours in time share the machine's mood, which then cancels out."""
    references = {row.round: figure(row) for row in _of(measurements, reference, conns) if row.rps}
    mine = [row for row in _of(measurements, name, conns) if row.rps and row.round in references]
    return [figure(row) / references[row.round] for row in mine]


def _spread(ratios: list[float]) -> str:
    if not ratios:
        return "-"
    middle = f"{statistics.median(ratios):.2f}"
    return middle if len(ratios) == 1 else f"{middle} ({min(ratios):.2f}-{max(ratios):.2f})"


def _of(measurements: Sequence[Measurement], name: str, conns: int) -> list[Measurement]:
    return [row for row in measurements if row.case == name and row.conns == conns]


def _median(rows: Sequence[Measurement], figure: Figure) -> float:
    return statistics.median(map(figure, rows)) if rows else float("nan")


def _table(head: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [
        _line(head, widths),
        "|" + "|".join("-" * (width + 1) + ("-" if not i else ":") for i, width in enumerate(widths)) + "|",
    ]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def _line(cells: list[str], widths: list[int]) -> str:
    padded = [
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"
