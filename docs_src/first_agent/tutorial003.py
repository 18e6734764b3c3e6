import anyio

from toolwire.agent import Agent, Ctx

agent = Agent("weather")

FORECASTS = {"Lisbon": "sunny, 24 °C", "Bergen": "rain, 9 °C"}


@agent.tool
async def report(ctx: Ctx) -> str:
    """Write a report on all cities, which takes a while."""
    lines: list[str] = []
    for number, (city, weather) in enumerate(FORECASTS.items(), 1):
        await anyio.sleep(0.1)
        lines.append(f"{city}: {weather}")
        await ctx.progress(f"looked at {city}", number, len(FORECASTS))
    return "\n".join(lines)
