"""Where calls come in: bytes of a request to a `Call`, and the record back to bytes."""
