import os

from toolwire.client import Client

with Client(os.environ["TOOLWIRE_URL"], os.environ["TOOLWIRE_KEY"]) as client:
    for agent in client.agents.list():
        print(agent.name, "attached" if agent.attached else "away", [skill.name for skill in agent.skills])

    answer = client.calls.invoke("demo", "web_search", {"query": "how do tides work", "max_results": 1})
    print(answer.text)
