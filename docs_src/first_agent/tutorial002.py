from typing import Annotated

from toolwire.agent import Agent, ToolError

agent = Agent("weather", version="1.1.0", description="Weather for a few cities.")

FORECASTS = {"Lisbon": "sunny, 24 °C", "Bergen": "rain, 9 °C"}


@agent.tool
def forecast(city: Annotated[str, "A city's English name"], days: int = 1) -> str:
    """Tell the weather of the next days."""
    if city not in FORECASTS:
        raise ToolError(f"no forecast for {city!r}; there are {', '.join(FORECASTS)}")
    return f"{city}, {days} day(s): {FORECASTS[city]}"
