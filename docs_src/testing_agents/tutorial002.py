from docs_src.agent_sdk.tutorial003 import answer, weather
from toolwire.sdk import Client
from toolwire.sdk.testing import FakeLLMProvider


def test_a_conversation_answers_each_question() -> None:
    with Client(weather, provider=FakeLLMProvider(responder=answer)) as client:
        task_id = client.start(goal="Tokyo and Lisbon?").task_id
        assert client.task_answer(task_id) == "24°C in Lisbon\n22°C in Tokyo"

        client.send_goal(task_id, goal="Hm.")
        assert client.task_answer(task_id) == "Name a city: Bergen, Lisbon, Tokyo."
