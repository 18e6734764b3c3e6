"""Lays out the demo agent's status page and draws it as a PNG picture, without a browser.

It shows a `Status` and keeps none; how pixels and letters come about is `raster`'s and `font`'s.
"""

import math
from datetime import UTC, datetime
from typing import Final

from toolwire.cli.demo.font import ASCENT, measure
from toolwire.cli.demo.raster import Picture, colour
from toolwire.cli.demo.status import EndedCall, Status

WIDTH: Final = 960
HEIGHT: Final = 650

_PAPER: Final = colour("#f2f4f8")
_CARD: Final = colour("#ffffff")
_BORDER: Final = colour("#dde2ea")
_GRID: Final = colour("#e9edf3")
_BAR_TITLE: Final = colour("#1d2a44")
_TITLE: Final = colour("#ffffff")
_TITLE_SOFT: Final = colour("#a9b6cf")
_INK: Final = colour("#1d2a44")
_SOFT: Final = colour("#66728a")
_BAR: Final = colour("#3f7be0")
_BAR_NOW: Final = colour("#8fb4f2")
_GOOD: Final = colour("#2f9e5f")
_BAD: Final = colour("#d0473f")

_MARGIN: Final = 32
_PADDING: Final = 20
_TITLE_HEIGHT: Final = 76
_SMALL: Final = 2
_LARGE: Final = 3
_HUGE: Final = 4


def draw(status: Status) -> bytes:
    """The status page as a PNG file of `WIDTH` x `HEIGHT` pixels.

    Strings too long for their place are cut with an ellipsis, characters beyond ASCII become question marks.
    """
    picture = Picture(WIDTH, HEIGHT, _PAPER)
    _title_bar(picture, status)
    _figures(picture, status, y=_TITLE_HEIGHT + 24, height=96)
    _chart(picture, status.per_minute, x=_MARGIN, y=220, width=436, height=332)
    _calls(picture, status, x=_MARGIN + 436 + 20, y=220, width=440, height=332)
    _footer(picture, status, y=578)
    return picture.png()


def _title_bar(picture: Picture, status: Status) -> None:
    picture.box(0, 0, WIDTH, _TITLE_HEIGHT, _BAR_TITLE)
    middle = _TITLE_HEIGHT // 2
    picture.disc(_MARGIN + 7, middle, 7, _BAR)
    picture.box(_MARGIN + 7, middle - 2, 28, 4, _BAR)
    picture.disc(_MARGIN + 35, middle, 7, _TITLE)
    version = f"version {status.version}"
    right = picture.width - _MARGIN
    version_px = min(measure(version, _SMALL), 240)
    top = middle - ASCENT * _LARGE // 2
    name_px = right - version_px - 24 - (_MARGIN + 60)
    picture.text(_MARGIN + 60, top, status.name, _LARGE, _TITLE, name_px)
    picture.text(right - version_px, top + ASCENT * (_LARGE - _SMALL), version, _SMALL, _TITLE_SOFT, version_px)


def _figures(picture: Picture, status: Status, y: int, height: int) -> None:
    figures = (
        ("Uptime", _span(status.now - status.started_at), _INK),
        ("Calls answered", f"{status.answered:,}", _INK),
        ("Failed", f"{status.failed:,}", _BAD if status.failed else _INK),
    )
    gap = 20
    width = (WIDTH - 2 * _MARGIN - gap * (len(figures) - 1)) // len(figures)
    for place, (label, value, ink) in enumerate(figures):
        x = _MARGIN + place * (width + gap)
        _card(picture, x, y, width, height)
        picture.text(x + _PADDING, y + 20, label, _SMALL, _SOFT)
        size = _HUGE if measure(value, _HUGE) <= width - 2 * _PADDING else _LARGE
        picture.text(x + _PADDING, y + 76 - ASCENT * size, value, size, ink, width - 2 * _PADDING)


def _chart(picture: Picture, counts: tuple[int, ...], x: int, y: int, width: int, height: int) -> None:
    _card(picture, x, y, width, height)
    picture.text(x + _PADDING, y + 20, "Calls per minute", _SMALL, _INK)
    ceiling = _ceiling(max(counts, default=0))
    left = x + _PADDING + max(measure(f"{ceiling:,}", _SMALL), 24) + 10
    right, top, bottom = x + width - _PADDING, y + 64, y + height - 50
    for share in (0, 1, 2):
        level = bottom - (bottom - top) * share // 2
        picture.box(left, level, right - left, 1, _BORDER if share == 0 else _GRID)
        if ceiling * share % 2 == 0:
            picture.text_right(left - 10, level - ASCENT, f"{ceiling * share // 2:,}", _SMALL, _SOFT)
    _bars(picture, counts, ceiling, (left, right, top, bottom))
    picture.text(left, bottom + 14, f"{len(counts)} min ago", _SMALL, _SOFT)
    picture.text_right(right, bottom + 14, "now", _SMALL, _SOFT)


def _bars(picture: Picture, counts: tuple[int, ...], ceiling: int, area: tuple[int, int, int, int]) -> None:
    left, right, top, bottom = area
    step = (right - left) / max(len(counts), 1)
    for place, count in enumerate(counts):
        start, end = left + round(place * step) + 1, left + round((place + 1) * step) - 1
        tall = math.ceil((bottom - top) * count / ceiling)
        if tall:
            ink = _BAR_NOW if place == len(counts) - 1 else _BAR
            picture.rounded(start, bottom - tall, max(end - start, 1), tall, 2, ink)
            picture.box(start, bottom - min(tall, 2), max(end - start, 1), min(tall, 2), ink)
    if not any(counts):
        note = "no calls yet"
        picture.text((left + right - measure(note, _SMALL)) // 2, (top + bottom) // 2 - 30, note, _SMALL, _SOFT)


def _calls(picture: Picture, status: Status, x: int, y: int, width: int, height: int) -> None:
    _card(picture, x, y, width, height)
    picture.text(x + _PADDING, y + 20, "Last calls", _SMALL, _INK)
    picture.text_right(x + width - _PADDING, y + 20, "time in UTC", _SMALL, _SOFT)
    line_px = 33
    for place, ended in enumerate(status.recent[: (height - 56) // line_px]):
        top = y + 60 + place * line_px
        if place:
            picture.box(x + _PADDING, top - 10, width - 2 * _PADDING, 1, _GRID)
        _call_line(picture, ended, x + _PADDING, top, width - 2 * _PADDING)
    if not status.recent:
        picture.text(x + _PADDING, y + 60, "none yet: call a tool and look again", _SMALL, _SOFT)


def _call_line(picture: Picture, ended: EndedCall, x: int, y: int, width: int) -> None:
    picture.disc(x + 6, y + ASCENT, 6, _GOOD if ended.ok else _BAD)
    clock = picture.text(x + 22, y, _clock(ended.ended_at), _SMALL, _SOFT)
    duration = _duration(ended.duration_s)
    picture.text_right(x + width, y, duration, _SMALL, _SOFT)
    room = x + width - measure(duration, _SMALL) - 16 - (clock + 16)
    picture.text(clock + 16, y, ended.tool, _SMALL, _INK, room)


def _footer(picture: Picture, status: Status, y: int) -> None:
    gateway = picture.text(_MARGIN, y, "Gateway", _SMALL, _SOFT)
    agent = measure("Agent", _SMALL)
    column = max(gateway - _MARGIN, agent) + 16
    room = WIDTH - 2 * _MARGIN - column
    picture.text(_MARGIN + column, y, status.gateway_url, _SMALL, _INK, room)
    picture.text(_MARGIN, y + 28, "Agent", _SMALL, _SOFT)
    taken = f"drawn {datetime.fromtimestamp(status.now, UTC):%Y-%m-%d %H:%M:%S} UTC"
    picture.text_right(WIDTH - _MARGIN, y + 28, taken, _SMALL, _SOFT)
    picture.text(_MARGIN + column, y + 28, status.agent_id, _SMALL, _INK, room - measure(taken, _SMALL) - 24)


def _card(picture: Picture, x: int, y: int, width: int, height: int) -> None:
    picture.rounded(x, y, width, height, 8, _BORDER)
    picture.rounded(x + 1, y + 1, width - 2, height - 2, 7, _CARD)


def _ceiling(highest: int) -> int:
    """The end of the chart's scale: the first of 2, 4, 10, 20, 40, 100, … that is not below the highest count."""
    power = 1
    while True:
        for step in (2, 4, 10):
            if step * power >= highest:
                return step * power
        power *= 10


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


def _span(seconds: float) -> str:
    whole = max(int(seconds), 0)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days:,} d {hour} h"
    if hours:
        return f"{hours} h {minute} min"
    return f"{minutes} min {second} s" if minutes else f"{second} s"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else _span(seconds)
