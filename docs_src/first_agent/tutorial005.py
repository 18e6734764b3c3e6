from docs_src.first_agent.tutorial002 import agent
from toolwire.testing.agents import Harness


def test_a_known_city_has_a_forecast() -> None:
    answered = Harness(agent).call("forecast", city="Lisbon")
    assert answered.text == "Lisbon, 1 day(s): sunny, 24 °C"


def test_an_unknown_city_is_an_error_that_names_the_known_ones() -> None:
    answered = Harness(agent).call("forecast", city="Atlantis")
    assert answered.is_error
    assert "there are Lisbon, Bergen" in answered.text
