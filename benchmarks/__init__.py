"""Measures Toolwire beside its peers in one run; it imports nothing of what it measures."""
