from pathlib import Path

from docs_src.agent_sdk.tutorial001 import options
from toolwire.sdk import Client, HostConfig
from toolwire.sdk.messages import Provider


def ask_twice(provider: Provider, storage: Path) -> str:
    """Begin a conversation; the id is all that is needed to go on with it later."""
    with Client(options, provider=provider, host_config=HostConfig(storage_path=storage)) as client:
        task_id = client.start(goal="What is the weather in Tokyo?").task_id
        client.send_goal(task_id, goal="And in Lisbon?")
        print(client.task_answer(task_id))
        return task_id


def ask_again(provider: Provider, storage: Path, task_id: str) -> None:
    """Go on, in another process if you like."""
    with Client(options, provider=provider, host_config=HostConfig(storage_path=storage)) as client:
        client.send_goal(task_id, goal="Which of the two is warmer?")
        for item in client.messages(task_id):
            print(item)
