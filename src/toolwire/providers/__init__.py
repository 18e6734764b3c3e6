"""Where calls go out: sources of tools and the handlers that run them; they do not know how a call came in."""
