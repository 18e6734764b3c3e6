"""The values of a tool call and the ports around them; msgspec and the standard library only, no I/O, no event loop."""
