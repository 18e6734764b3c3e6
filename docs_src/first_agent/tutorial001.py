from typing import Annotated

from toolwire.agent import Agent

agent = Agent("weather", version="1.0.0", description="Weather for a few cities.")

FORECASTS = {"Lisbon": "sunny, 24 °C", "Bergen": "rain, 9 °C"}


@agent.tool
def forecast(city: Annotated[str, "A city's English name"], days: int = 1) -> str:
    """Tell the weather of the next days."""
    return f"{city}, {days} day(s): {FORECASTS[city]}"
