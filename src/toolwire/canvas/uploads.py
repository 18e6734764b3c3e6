"""Takes an archive that somebody sends, into a file of the host's, and unpacks it as any other; it installs nothing."""

from collections.abc import AsyncIterable
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from msgspec import Struct

from toolwire.canvas.sources import ARCHIVES, MAX_ARCHIVE_BYTES, Source, fetch
from toolwire.core.errors import InvalidParam, PayloadTooLarge

_SHOWN_CHARS: Final = 200


class Upload(Struct, frozen=True):
    """An archive that is being sent. `filename` is what its sender calls it; only its ending counts."""

    filename: str
    pieces: AsyncIterable[bytes]

    async def unpack(self, into: Path) -> None:
        """Take what is sent, and unpack it into a folder that is not there yet.

        Raises:
            InvalidParam: it is no archive, or has files that cannot be taken.
            PayloadTooLarge: it is too large.
        """
        suffix = next((each for each in ARCHIVES if self.filename.lower().endswith(each)), None)
        if suffix is None:
            words = f"{self.filename[:_SHOWN_CHARS]!r} is no archive; {', '.join(ARCHIVES)} are taken"
            raise InvalidParam(words, param="filename")
        archive = into.with_name(into.name + suffix)
        try:
            await self._write(archive)
            await fetch(Source("archive", str(archive)), into)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(lambda: archive.unlink(missing_ok=True))

    async def _write(self, archive: Path) -> None:
        n_bytes = 0
        async with await anyio.open_file(archive, "xb") as file:
            async for piece in self.pieces:
                n_bytes += len(piece)
                if n_bytes > MAX_ARCHIVE_BYTES:
                    words = f"the archive has more than {MAX_ARCHIVE_BYTES} bytes; leave out what it does not need"
                    raise PayloadTooLarge(words, max_bytes=MAX_ARCHIVE_BYTES)
                await file.write(piece)


def uploaded_source(name: str) -> Source:
    """Where a package that was sent comes from: nowhere that could be asked again, so that its name has to do."""
    return Source("upload", name)
