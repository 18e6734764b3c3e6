"""The demo agent's working parts: a corpus with a ranked search, a drawn status page and a summariser.

Each module is pure and usable by itself; none knows of a gateway, a link or a call.
"""
