"""What a command prints, kept within limits until somebody takes it; it starts no command."""

import re
import threading

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Colours, cursor movements and window titles of terminals."""


class Output:
    """Bytes, of which the beginning and the end are kept when there are too many. Safe to use from several threads."""

    def __init__(self, max_bytes: int) -> None:
        self._half = max(max_bytes // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0
        self._lock = threading.Lock()
        self.last_line = ""

    def append(self, data: bytes) -> None:
        """Keep what was printed."""
        with self._lock:
            room = self._half - len(self._head) if not self._tail else 0
            self._head += data[:room]
            self._tail += data[room:]
            if len(self._tail) > 2 * self._half:
                self._trim()
            lines = data[-500:].decode("utf-8", "replace").split("\n")
            self.last_line = next((line.strip() for line in reversed(lines) if line.strip()), self.last_line)

    def take(self, final: bool) -> str:
        """All that was printed since it was taken last.

        Args:
            final: nothing follows; otherwise a character of which only the beginning has come stays for the next time.
        """
        with self._lock:
            self._trim()
            whole = not self._left_out
            data = bytes(self._head + self._tail) if whole else bytes(self._head)
            tail, left_out = bytes(self._tail), self._left_out
            kept = b"" if final else _unfinished(data if whole else tail)
            self._head, self._tail, self._left_out = bytearray(kept), bytearray(), 0
        if whole:
            return _plain(data[: len(data) - len(kept)])
        end = _plain(tail[: len(tail) - len(kept)])
        return f"{_plain(data)}\n\n… {left_out} bytes of output were left out here …\n\n{end}"

    def _trim(self) -> None:
        too_many = len(self._tail) - self._half
        if too_many > 0:
            del self._tail[:too_many]
            self._left_out += too_many


def _plain(data: bytes) -> str:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return _ESCAPES.sub("", text).replace("\0", "")


def _unfinished(data: bytes) -> bytes:
    """The first bytes of a UTF-8 character at the end of `data`, when its last ones are missing."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[-back:] if back < length else b""
        if byte < 0x80:
            break
    return b""
