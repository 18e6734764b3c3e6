"""Turns the figures of the rounds into one Markdown table of ratios.  It measures nothing."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.agents.rows import NOETA, OURS, PEERS, Measured, Row, Subject


@dataclass
class Figures:
    """What the programs found, round by round."""

    _found: dict[tuple[Measured, Subject], list[dict[str, float]]] = field(
        default_factory=dict[tuple[Measured, Subject], list[dict[str, float]]]
    )

    def add(self, run: Measured, subject: Subject, found: dict[str, float]) -> None:
        """Take what one run of a program found."""
        self._found.setdefault((run, subject), []).append(found)

    def of(self, row: Row, subject: Subject) -> list[float]:
        """A row's figure of each round; empty where it is not measured."""
        return [found[row.figure] for found in self._found.get((row.run, subject), []) if row.figure in found]

    def plain(self) -> list[dict[str, object]]:
        """All of them, for the JSON file."""
        return [
            {"scenario": run.scenario, "storage": run.storage, "subject": subject.name, "rounds": found}
            for (run, subject), found in self._found.items()
        ]


def markdown(rows: Sequence[Row], figures: Figures) -> str:
    """One line a row: Toolwire's figure; each peer's, and how many times better Toolwire is; what it asks of itself."""
    head = ["", OURS.name]
    for peer in PEERS:
        head += [peer.name, "×"]
    lines = [[*head, "asked"]]
    for row in rows:
        line = [row.text, _figure(figures.of(row, OURS))]
        for peer in PEERS:
            line += [_figure(figures.of(row, peer)), _spread(ratios(row, figures, peer))]
        asked = [f"{text} {'met' if met else 'MISSED'}" for text, met in _verdicts(row, figures)]
        lines.append([*line, ", ".join(asked)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rule = "|" + "|".join("-" * (width + 1) + (":" if column else "-") for column, width in enumerate(widths)) + "|"
    printed = [_line(line, widths) for line in lines]
    return "\n".join([printed[0], rule, *printed[1:]])


def missed(rows: Sequence[Row], figures: Figures) -> list[str]:
    """What Toolwire asks of itself and did not reach; what was not measured is not missed."""
    return [f"{row.text}: {text}" for row in rows for text, met in _verdicts(row, figures) if not met]


def ratios(row: Row, figures: Figures, peer: Subject) -> list[float]:
    """How many times better Toolwire is, one ratio a round: neighbours in time share the machine's mood."""
    pairs = zip(figures.of(row, OURS), figures.of(row, peer), strict=False)
    return [theirs / ours if row.lower_is_better else ours / theirs for ours, theirs in pairs if ours and theirs]


def _verdicts(row: Row, figures: Figures) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    to_noeta, own = ratios(row, figures, NOETA), figures.of(row, OURS)
    if row.least_ratio is not None and to_noeta:
        found.append((f"≥ {row.least_ratio:.3g} × noeta", statistics.median(to_noeta) >= row.least_ratio))
    if row.at_most is not None and own:
        found.append((f"≤ {row.at_most:g}", statistics.median(own) <= row.at_most))
    if row.at_least is not None and own:
        found.append((f"≥ {row.at_least:g}", statistics.median(own) >= row.at_least))
    return found


def _figure(values: Sequence[float]) -> str:
    if not values:
        return "-"
    middle = statistics.median(values)
    return f"{middle:,.0f}" if middle >= 100 else f"{middle:.2f}" if middle < 10 else f"{middle:.1f}"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    middle = f"{statistics.median(values):.1f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.1f}-{max(values):.1f})"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if column else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"
