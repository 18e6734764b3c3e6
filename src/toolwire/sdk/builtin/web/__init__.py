"""The web as the built-in tools see it: pages that are safe to fetch, and one search endpoint; it knows no tools."""
