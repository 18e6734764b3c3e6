from toolwire.agent import Agent

agent = Agent("hello")


@agent.tool
def greet(name: str) -> str:
    """Greet somebody by name."""
    return f"Hello, {name}!"
