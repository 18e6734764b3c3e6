from docs_src.remote_mcp.tutorial001 import host_config
from toolwire.sdk import AsyncClient, Options
from toolwire.sdk.messages import Provider


async def add(provider: Provider) -> str:
    options = Options(system_prompt="You do sums.", allowed_tools=())
    async with AsyncClient(options, provider=provider, host_config=host_config) as client:
        outcome = await client.start(goal="What is 1 + 2?", enabled_mcp=("sums",))
        while outcome.pending:
            outcome = await client.approve(outcome.task_id)
        return await client.task_answer(outcome.task_id)
