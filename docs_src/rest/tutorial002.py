import os

from toolwire.client import ApiError, Client, ErrorEvent, ProgressEvent, ResultEvent, Terms

TEXT = "Tides rise twice a day. The moon pulls the sea. Nobody minds. The sun helps a little."

with Client(os.environ["TOOLWIRE_URL"], os.environ["TOOLWIRE_KEY"]) as client:
    arguments = {"text": TEXT, "max_sentences": 2}
    task = client.tasks.submit("demo", "summarize", arguments, terms=Terms(idempotency_key="tides-1"))

    for event in client.tasks.events("demo", task.task_id):
        match event:
            case ProgressEvent(message=message):
                print("…", message)
            case ResultEvent(result=answer):
                print(answer.text)
            case ErrorEvent(error=problem):
                print(problem.code, problem.message)
            case _:
                pass

    try:
        client.calls.invoke("demo", "no_such_tool")
    except ApiError as error:
        print(error.code, error.status, error.details["retryable"])
