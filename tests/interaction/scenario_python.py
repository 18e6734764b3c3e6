"""The scenario with the official Python client, unmodified: `python -m tests.interaction.scenario_python MODE TARGET…`.

It prints what it saw at each step as one line of JSON; see scenario.py. MODE is the client's, TARGET a URL or command.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters

LEVEL_KEY = "io.modelcontextprotocol/logLevel"
PATIENCE_S = 20.0


class Script:
    """The steps, each a method of its name."""

    def __init__(self) -> None:
        self.logged: list[list[Any]] = []
        self.changed = anyio.Event()
        self.client: Client

    def talking(self, mode: str, target: list[str]) -> Client:
        """The client, which answers what it is asked."""
        place = target[0] if target[0].startswith("http") else StdioServerParameters(command=target[0], args=target[1:])
        return Client(
            place,
            mode=mode,
            elicitation_callback=_fill_in,
            sampling_callback=_sample,
            logging_callback=self._hear_log,
            message_handler=self._hear,
        )

    async def _hear_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logged.append([params.level, params.data])

    async def _hear(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.changed.set()

    async def connect(self) -> Any:
        info = self.client.server_info
        assert info is not None
        return {"name": info.name, "version": info.version, "instructions": self.client.instructions}

    async def list_tools(self) -> Any:
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def list_resources(self) -> Any:
        return [str(resource.uri) for resource in (await self.client.list_resources()).resources]

    async def list_templates(self) -> Any:
        found = await self.client.list_resource_templates()
        return [template.uri_template for template in found.resource_templates]

    async def list_prompts(self) -> Any:
        prompts = (await self.client.list_prompts()).prompts
        return [{"name": each.name, "arguments": [one.name for one in each.arguments or []]} for each in prompts]

    async def call(self) -> Any:
        result = await self.client.call_tool("echo", {"text": "hé\n\u2028"})
        return {"content": [block.model_dump(include={"type", "text"}) for block in result.content]}

    async def structured_output(self) -> Any:
        return (await self.client.call_tool("add", {"a": 2, "b": 40})).structured_content

    async def image(self) -> Any:
        block = (await self.client.call_tool("picture")).content[0].model_dump(by_alias=True)
        return {"mimeType": block["mimeType"], "data": block["data"]}

    async def progress(self) -> Any:
        heard: list[list[Any]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append([progress, total, message])

        result = await self.client.call_tool("steps", {"count": 3}, progress_callback=hear)
        return {"heard": heard, "text": _text(result)}

    async def error_result(self) -> Any:
        result = await self.client.call_tool("fail")
        return {"isError": result.is_error, "text": _text(result)}

    async def bad_arguments(self) -> Any:
        return {"isError": (await self.client.call_tool("add", {"a": "many"})).is_error}

    async def unknown_tool(self) -> Any:
        try:
            await self.client.call_tool("nothing")
        except MCPError as error:
            return {"code": error.code, "token": error.data["code"]}
        return None

    async def read_text(self) -> Any:
        [content] = (await self.client.read_resource("scenario://about")).contents
        return content.model_dump(by_alias=True, include={"mime_type", "text"})

    async def read_bytes(self) -> Any:
        [content] = (await self.client.read_resource("scenario://pixel")).contents
        return content.model_dump(by_alias=True, include={"mime_type", "blob"})

    async def read_template(self) -> Any:
        [content] = (await self.client.read_resource("scenario://7/square")).contents
        return content.model_dump()["text"]

    async def get_prompt(self) -> Any:
        messages = (await self.client.get_prompt("greet", {"name": "Ada", "tone": "calm"})).messages
        return [{"role": each.role, "text": each.content.model_dump()["text"]} for each in messages]

    async def completion(self) -> Any:
        ref = types.PromptReference(type="ref/prompt", name="greet")
        return (await self.client.complete(ref, {"name": "name", "value": "A"})).completion.values

    async def logging(self) -> Any:
        if self.client.protocol_version >= "2026":
            meta: Any = {LEVEL_KEY: "info"}
            await self.client.call_tool("log", meta=meta)
        else:
            await self.client.set_logging_level("info")  # pyright: ignore[reportDeprecated] - not on this wire
            await self.client.call_tool("log")
        return self.logged

    async def elicitation(self) -> Any:
        return _text(await self.client.call_tool("ask_name"))

    async def sampling(self) -> Any:
        return _text(await self.client.call_tool("ask_model"))

    async def list_changed(self) -> Any:
        if self.client.protocol_version >= "2026":
            async with self.client.listen(tools_list_changed=True) as news:
                await self.client.call_tool("grow")
                async for _ in news:
                    break
        else:
            await self.client.call_tool("grow")
            await self.changed.wait()
        listed = await self.client.list_tools(cache_mode="refresh")
        return [tool.name for tool in listed.tools]

    async def together(self) -> Any:
        texts = [f"call {number}" for number in range(20)]
        said: dict[str, str] = {}

        async def call(text: str) -> None:
            said[text] = _text(await self.client.call_tool("echo", {"text": text}))

        async with anyio.create_task_group() as tasks:
            for text in texts:
                tasks.start_soon(call, text)
        return all(said[text] == text for text in texts)

    async def cancellation(self) -> Any:
        begun = anyio.Event()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async def call() -> None:
            await self.client.call_tool("hold", progress_callback=hear)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await begun.wait()
            tasks.cancel_scope.cancel()
        seen = await self.client.call_tool("was_cancelled")
        return {"gaveUp": True, "wasCancelled": _text(seen) == "true"}

    async def after(self) -> Any:
        return _text(await self.client.call_tool("echo", {"text": "still here"}))


STEPS: list[Callable[[Script], Awaitable[Any]]] = [
    Script.connect, Script.list_tools, Script.list_resources, Script.list_templates, Script.list_prompts,
    Script.call, Script.structured_output, Script.image, Script.progress, Script.error_result,
    Script.bad_arguments, Script.unknown_tool, Script.read_text, Script.read_bytes, Script.read_template,
    Script.get_prompt, Script.completion, Script.logging, Script.elicitation, Script.sampling,
    Script.list_changed, Script.together, Script.cancellation, Script.after,
]  # fmt: skip


async def _fill_in(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def _sample(context: Any, params: Any) -> types.CreateMessageResult:
    said = types.TextContent(type="text", text="it rises")
    return types.CreateMessageResult(role="assistant", content=said, model="a-model")


def _text(result: types.CallToolResult) -> str:
    return result.content[0].model_dump()["text"]


async def main(mode: str, target: list[str]) -> None:
    """Go through the steps and print what was seen."""
    script, seen = Script(), dict[str, Any]()
    async with script.talking(mode, target) as script.client:
        for step in STEPS:
            with anyio.fail_after(PATIENCE_S):
                seen[step.__name__] = await step(script)
        version = script.client.protocol_version
    print(json.dumps({"version": version, "steps": seen}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2:])
