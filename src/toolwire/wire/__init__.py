"""Bytes to values and back, for every protocol we speak; sans-I/O, so it opens no socket and awaits nothing."""
