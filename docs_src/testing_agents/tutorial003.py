from docs_src.agent_sdk.tutorial003 import offline, weather
from toolwire.agent import Agent
from toolwire.testing import Harness


def test_callers_get_the_answer_and_its_pieces() -> None:
    answered = Harness(Agent.from_options(weather, provider=offline)).message("Bergen?")

    assert answered.text == "9°C in Bergen"
    assert answered.said == ("9°C ", "in ", "Bergen")
    assert answered.progress[0].message == "calling fetch_weather"
