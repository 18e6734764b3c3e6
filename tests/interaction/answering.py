"""A client that answers what a server asks, on either wire and transport; it asserts nothing."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import anyio

from tests.interaction.bench import NEW, headers
from tests.interaction.cells import Talk
from tests.interaction.transport import PATIENCE_S, Answer
from toolwire.wire.mcp.envelope import CAPABILITIES_KEY

ABLE: dict[str, Any] = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {}}
Answering: TypeAlias = Callable[[str, Any], Any]
"""From the method and the parameters of a question to its result."""


def form(**content: Any) -> Any:
    """A form that is filled in."""
    return {"action": "accept", "content": content}


def by_method(elicit: Any = None, sample: str = "a sample", roots: tuple[str, ...] = ("file:///home",)) -> Answering:
    """Answers that depend on the method alone."""
    results: dict[str, Any] = {
        "elicitation/create": elicit or form(name="Ann"),
        "sampling/createMessage": {
            "role": "assistant",
            "model": "a-model",
            "content": {"type": "text", "text": sample},
            "stopReason": "endTurn",
        },
        "roots/list": {"roots": [{"uri": uri} for uri in roots]},
    }
    return lambda method, params: results[method]


class Asked:
    """A client under whose requests a server asks.

    Attributes:
        questions: what it was asked, in order: (key or id, method, params).
        states: the states that it was given.
    """

    def __init__(self, talk: Talk, answer: Answering, can: dict[str, Any] | None = None) -> None:
        self.talk = talk
        self.answer = answer
        self.can = ABLE if can is None else can
        self.questions: list[tuple[str, str, Any]] = []
        self.states: list[str] = []

    async def say(self, method: str, params: Any, id_: Any = 1, **more: Any) -> Any:
        """Send a request, answer what is asked, and return the response."""
        if self.talk.era == NEW:
            return await self._repeat(method, params, id_, **more)
        answer = await self.talk.begin(method, params, id_, **more)
        if answer is not None:
            return await self._read(answer)
        lines = self.talk.lines
        assert lines is not None
        while "method" in (message := await lines.message()):
            await self.respond(message)
        return message

    async def text(self, tool: str, arguments: Any = None) -> str:
        """What a tool says in the end."""
        message = await self.say("tools/call", {"name": tool, "arguments": arguments or {}})
        return message["result"]["content"][0]["text"]

    def enveloped(self, params: Any) -> Any:
        """Parameters with what the client can do, on 2026-07-28."""
        if self.talk.era != NEW:
            return params
        return {**params, "_meta": {CAPABILITIES_KEY: self.can, **params.get("_meta", {})}}

    async def respond(self, request: Any, **more: Any) -> None:
        """Answer a request of the server's."""
        if "id" not in request:
            return
        params = request.get("params", {})
        self.questions.append((request["id"], request["method"], params))
        found = self.answer(request["method"], params)
        outcome = {"error": found} if "code" in found else {"result": found}
        await self.send({"jsonrpc": "2.0", "id": request["id"], **outcome}, **more)

    async def send(self, message: Any, **more: Any) -> int:
        """Send a message as it is; the HTTP status of the answer, 0 on a pipe."""
        data = json.dumps(message).encode()
        if self.talk.lines is not None:
            await self.talk.lines.send(data + b"\n")
            return 0
        peer = self.talk.peer
        assert peer is not None
        answer = await peer.client.ask("POST", "/mcp", headers(peer.era, **{**peer.more, **more}), data)
        return answer.status

    async def _read(self, answer: Answer) -> Any:
        with anyio.fail_after(PATIENCE_S):
            await answer.started.wait()
        if answer.headers["content-type"] == "application/json":
            return await answer.json()
        while "method" in (message := await answer.frame()):
            await self.respond(message)
        return message

    async def _repeat(self, method: str, params: Any, id_: Any, **more: Any) -> Any:
        sent, number = self.enveloped(params), id_
        while True:
            *told, message = await self.talk.say(method, sent, number, **more)
            self.questions += [("", note["method"], "a request on a stream") for note in told if "id" in note]
            result = message.get("result", {})
            if result.get("resultType") != "input_required":
                return message
            self.states.append(result["requestState"])
            responses: dict[str, Any] = {}
            for key, question in result["inputRequests"].items():
                self.questions.append((key, question["method"], question["params"]))
                responses[key] = self.answer(question["method"], question["params"])
            number += 1
            sent = {**self.enveloped(params), "requestState": self.states[-1], "inputResponses": responses}
