from typing import Annotated, Literal

from toolwire.sdk import tool


@tool
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@tool(name="convert_temperature")
def convert(value: float, to: Annotated[Literal["C", "F"], "The unit wanted"]) -> str:
    """Convert a temperature between Celsius and Fahrenheit."""
    converted = (value - 32) * 5 / 9 if to == "C" else value * 9 / 5 + 32
    return f"{converted:.1f} °{to}"
