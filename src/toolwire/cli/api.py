"""The typed client of a running host, for commands; what it is refused is a command's failure. It prints nothing."""

from collections.abc import Generator
from contextlib import contextmanager

from toolwire.cli.failure import Failed
from toolwire.cli.target import Target
from toolwire.client import ApiError, Client

TRIES = 10
"""A host that is started anew while a stream is read is waited for."""


@contextmanager
def host_client(target: Target) -> Generator[Client]:
    """The client, until the block ends.

    Raises:
        Failed: the host refuses something, or nobody answers.
    """
    with Client(target.url, target.key, tries=TRIES) as client:
        try:
            yield client
        except ApiError as error:
            code = "no_host" if error.status is None else error.code
            raise Failed(error.message, code, data=error.details or None) from None
