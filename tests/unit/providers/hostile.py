"""An MCP server over stdio that does what its arguments say, written by hand in the 2025-11-25 revision.

`hostile.py MODE [FILE]`: FILE is where it notes what it does, a line each.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

MODE = sys.argv[1]
NOTES = Path(sys.argv[2]) if len(sys.argv) > 2 else None
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
ODD: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "strange"}}}
NAMES = {
    "names": ["bad.name!x", "ünï cödé", "x" * 80, ""],
    "collision": ["a.b", "a_b"],
    "twice": ["same", "same"],
}


def note(text: str) -> None:
    if NOTES is not None:
        with NOTES.open("a") as file:
            file.write(f"{text}\n")


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": SCHEMA, **more}


class Server:
    """What it has been through."""

    def __init__(self) -> None:
        self.version = 1

    def tools(self, cursor: str | None) -> dict[str, Any]:
        if MODE == "endless":
            return {"tools": [tool(f"t{cursor or 0}")], "nextCursor": str(int(cursor or 0) + 1)}
        if MODE == "circle":
            return {"tools": [tool("t")], "nextCursor": "again"}
        if MODE == "huge":
            return {"tools": [tool("huge", description="x" * 100_000), tool("odd", inputSchema=ODD)]}
        if MODE == "wrong":
            return {"tools": [tool("wrong", inputSchema={"type": "array"})]}
        if MODE == "nonsense":
            return {"tools": "none of your business"}
        names = NAMES.get(MODE, ["work", "change", "die", "hang", "pid"] + ["flood"] * (MODE == "flood"))
        tools = [tool(name) for name in names]
        if MODE == "liar":
            tools = [tool("lie", outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}})]
        if MODE == "safe":
            hints = {"readOnlyHint": True}
            tools = [tool("work", annotations=hints), tool("change", annotations=hints)]
        tools[0]["description"] += f" Version {self.version}."
        return {"tools": tools}

    def call(self, name: str) -> dict[str, Any] | None:
        text = name
        match name:
            case "change":
                self.version += 1
                if MODE != "silent":
                    say({"method": "notifications/tools/list_changed"})
            case "die":
                sys.stderr.write("dying of a broken heart\n")
                sys.stderr.flush()
                os._exit(3)
            case "hang":
                return None
            case "flood":
                while True:
                    sys.stdout.write("x" * 2**20)
            case "lie":
                return {"content": [], "structuredContent": {"n": "many"}}
            case "pid":
                text = str(os.getpid())
            case _:
                pass
        return {"content": [{"type": "text", "text": text}]}

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        params = message.get("params", {})
        match message["method"]:
            case "initialize":
                capabilities = {"tools": {"listChanged": MODE != "silent"}}
                version = params["protocolVersion"]
                return {
                    "protocolVersion": version,
                    "capabilities": capabilities,
                    "serverInfo": {"name": "hostile", "version": "0"},
                }
            case "tools/list":
                return self.tools(params.get("cursor"))
            case "tools/call":
                return self.call(params["name"])
            case _:
                raise LookupError(message["method"])


def main() -> None:
    note(f"start {os.getpid()}")
    if MODE == "exit":
        sys.stderr.write(f"no licence for key {os.environ.get('SECRET')}\n")
        sys.exit(3)
    if MODE == "slow":
        Path(sys.argv[3]).read_text()  # a named pipe: until somebody writes
    if MODE == "noise":
        sys.stdout.write("Starting up...\n\xff{not json}\n[1, 2]\n")
        sys.stdout.flush()
    server = Server()
    for line in sys.stdin:
        message = json.loads(line)
        note(message["method"])
        if MODE == "mute" or "id" not in message:
            continue
        try:
            result = server.answer(message)
        except LookupError:
            say({"id": message["id"], "error": {"code": -32601, "message": "unknown method"}})
            continue
        if result is not None:
            say({"id": message["id"], "result": result})
    note("end")


main()
