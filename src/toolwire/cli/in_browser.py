"""Opens an address in the browser of whoever runs a command; it knows no address by itself."""

import sys
import webbrowser

import anyio


async def open_in_browser(url: str) -> None:
    """Open `url`, or say that it must be opened by hand."""
    if not await anyio.to_thread.run_sync(webbrowser.open, url):
        print("no browser could be opened; open the link yourself", file=sys.stderr, flush=True)
