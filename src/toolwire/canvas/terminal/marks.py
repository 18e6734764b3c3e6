"""How a shell tells where it is: marks among what it prints, which no terminal shows, and the script that makes them.

A mark carries a secret: the terminal's own, or the one of the command at hand. What looks like a mark and is not, since
a command has printed it, passes as the output that it is.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

INTRO: Final = b"\x1b]7770;"
END: Final = b"\x07"
MAX_MARK_BYTES: Final = 128


class Mark(NamedTuple):
    """`begin` and `end` stand around the output of a command of ours.

    `prompt` comes before each prompt, `ready` after it, and `busy` when a line that was typed is about to be carried
    out. `secret` is the command's, and the terminal's in `ready` and `busy`; `status` is the exit code in `end`
    and `prompt`.
    """

    kind: str
    secret: str
    status: int
    raw: bytes


class MarkReader:
    """Takes marks out of what is printed, however it comes in pieces."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes | Mark]:
        """Output and marks, in order. The beginning of what may become a mark is held back."""
        data, self._held, start = self._held + data, b"", 0
        while True:
            found = data.find(INTRO, start)
            if found < 0:
                whole = len(data) - _begun(data, start)
                self._held = data[whole:]
                if whole > start:
                    yield data[start:whole]
                return
            if found > start:
                yield data[start:found]
            end = data.find(END, found, found + MAX_MARK_BYTES)
            if end < 0 and len(data) - found < MAX_MARK_BYTES:
                self._held = data[found:]
                return
            start = found + len(INTRO) if end < 0 else end + 1
            yield _mark(data[found:start])

    def rest(self) -> bytes:
        """What was held back, when nothing follows."""
        held, self._held = self._held, b""
        return held


def _begun(data: bytes, start: int) -> int:
    """How many bytes at the end may be the beginning of a mark."""
    for size in range(min(len(INTRO) - 1, len(data) - start), 0, -1):
        if INTRO.startswith(data[len(data) - size :]):
            return size
    return 0


def _mark(raw: bytes) -> bytes | Mark:
    kind, _, rest = raw[len(INTRO) : -1].decode("ascii", "replace").partition(";")
    secret, _, status = rest.partition(";")
    if raw[-1:] != END or kind not in _KINDS or (status and not status.isdigit()):
        return raw
    return Mark(kind, secret, int(status or 0), raw)


_KINDS: Final = frozenset(("begin", "end", "prompt", "ready", "busy"))

LINE: Final = b' { __toolwire_begin; } 2>/dev/null; eval "$__toolwire_command"; { __toolwire_end; } 2>/dev/null\r'
"""What is typed to have the command file carried out, once: a second such line finds it empty, and does nothing.

The blank keeps it out of the shell's history.
"""

_OWN: Final = "[ -f ~/.bashrc ] && . ~/.bashrc"
_SCRIPT: Final = r"""
PS1='\W\$ '
@OWN@
set +eux
__toolwire_file='@FILE@' __toolwire_secret='' __toolwire_status=0 __toolwire_command=''
__toolwire_begin() {
    __toolwire_secret='' __toolwire_command=''
    { IFS= read -r __toolwire_secret; IFS= read -r -d '' __toolwire_command; } <"$__toolwire_file" || :
    [ -z "$__toolwire_secret" ] || : >|"$__toolwire_file"
    stty opost onlcr isig icanon icrnl echo </dev/tty
    printf '\033]7770;begin;%s\007' "$__toolwire_secret" >/dev/tty
    return "$__toolwire_status"
}
__toolwire_end() {
    __toolwire_status=$?
    printf '\033]7770;end;%s;%s\007' "$__toolwire_secret" "$__toolwire_status" >/dev/tty
    case ${PROMPT_COMMAND-} in __toolwire_prompt*) ;; *) PROMPT_COMMAND='__toolwire_prompt' ;; esac
    return "$__toolwire_status"
}
__toolwire_prompt() {
    __toolwire_status=$?
    printf '\033]7770;prompt;%s;%s\007' "$__toolwire_secret" "$__toolwire_status" >/dev/tty
    [ -t 0 ] && [ -t 1 ] && [ -t 2 ] || exec </dev/tty >/dev/tty 2>&1
    case ${PS1-} in *'7770;ready;@SECRET@'*) ;; *) PS1=${PS1-}'\[\033]7770;ready;@SECRET@\007\]' ;; esac
    case ${PS0-} in *'7770;busy;@SECRET@'*) ;; *) PS0=${PS0-}'\033]7770;busy;@SECRET@\007' ;; esac
    return "$__toolwire_status"
}
PROMPT_COMMAND="__toolwire_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
HISTCONTROL=ignorespace${HISTCONTROL:+:$HISTCONTROL}
bind 'set enable-bracketed-paste off' 2>/dev/null
"""


def startup_script(command_file: Path, secret: str, plain: bool = False) -> str:
    """What the shell reads first: the user's own settings, then what makes marks.

    What a command has done with the shell's own input and output, and with the terminal's modes, is undone before the
    next one: readline would have no terminal, and output would be no lines.

    Args:
        command_file: where commands come from: a line with the command's secret, and the command.
        secret: the terminal's.
        plain: without the user's own settings.
    """
    own = "" if plain else _OWN
    quoted = str(command_file).replace("'", "'\\''")
    return _SCRIPT.replace("@FILE@", quoted).replace("@SECRET@", secret).replace("@OWN@", own)
