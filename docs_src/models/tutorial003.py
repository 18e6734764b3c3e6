from docs_src.models.tutorial002 import Parrot
from toolwire.sdk import Client, Options, TextDelta, ToolProgress
from toolwire.sdk.messages import TaskDelta


def show(task_id: str, delta: TaskDelta) -> None:
    match delta:
        case TextDelta(text=text):
            print(text, end="", flush=True)
        case ToolProgress(tool_name=name, message=message):
            print(f"[{name}: {message}]")
        case _:
            pass


def main() -> None:
    options = Options(system_prompt="You listen.", allowed_tools=(), model="parrot-1")
    with Client(options, provider=Parrot()) as client:
        client.subscribe_deltas(show)
        task_id = client.start(goal="one two three").task_id
        used = client.usage(task_id)
        print(f"\n{used.input} tokens read, {used.output} written, {used.cost_usd:.6f} USD")


if __name__ == "__main__":
    main()
