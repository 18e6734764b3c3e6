"""Asks a running host by its REST surface; the answers are plain JSON values, and nothing is printed.

Spec: gateway.md §6, "REST".
"""

from types import TracebackType
from typing import Any, Self, cast

import httpx2

from toolwire.cli.failure import Failed
from toolwire.cli.target import Target

TIMEOUT_S = 30.0


class Rest:
    """A connection to one host, by one key. Use it in a `with` block.

    Args:
        target: the host and the key.
        transport: carries the requests; for tests.
        timeout_s: how long an answer may take.
    """

    def __init__(
        self, target: Target, transport: httpx2.BaseTransport | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._url = target.url
        self._client = httpx2.Client(
            base_url=target.url,
            headers={"authorization": f"Bearer {target.key}"},
            timeout=timeout_s,
            transport=transport,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """What the host answers: the `data` of its envelope, `None` when there is nothing to say.

        Args:
            method: HTTP's.
            path: below the host's address, with its query.
            body: JSON to send.

        Raises:
            Failed: it refuses, does not answer, or is no Toolwire.
        """
        return data_of(self._answer(method, path, body), self._url)

    def lines(self, path: str) -> list[str]:
        """The lines of a text that the host gives.

        Raises:
            Failed: as `ask`.
        """
        response = self._answer("GET", path, None)
        if response.status_code != 200:
            data_of(response, self._url)
        return response.text.splitlines()

    def _answer(self, method: str, path: str, body: dict[str, Any] | None) -> httpx2.Response:
        try:
            return self._client.request(method, path, json=body)
        except httpx2.InvalidURL as error:
            raise Failed(f"{self._url!r} is no address: {error}", "usage") from None
        except httpx2.HTTPError as error:
            raise Failed(
                f"no host answers at {self._url}: {_reason(error)}; is `toolwire up` running?", "no_host"
            ) from None


def data_of(response: httpx2.Response, url: str) -> Any:
    """What an answer of a host says: the `data` of its envelope, `None` when there is nothing to say.

    Raises:
        Failed: it refuses, or it is none of a host's; `url` is where it came from, for people.
    """
    if response.status_code == 204:
        return None
    try:
        envelope: Any = response.json()
    except ValueError:
        envelope = None
    match envelope:
        case {"success": True, "data": data}:
            return data
        case {"success": False, "error": {"code": str(code), "message": str(message), **more}}:
            details = cast("dict[str, Any] | None", more.get("details"))
            raise Failed(message, code, data=details or None)
        case _:
            raise Failed(
                f"{url} answered HTTP {response.status_code} and not as a Toolwire host does; is the address right?",
                "no_host",
            )


def _reason(error: httpx2.HTTPError) -> str:
    return str(error) or type(error).__name__
