from docs_src.agent_sdk.tutorial003 import offline, weather
from toolwire.agent import Agent
from toolwire.sdk import HostConfig

agent = Agent.from_options(
    weather,
    provider=offline,
    description="Knows the weather of a few cities.",
    host_config=HostConfig(storage_path="conversations.db"),
)
