from docs_src.approvals.tutorial001 import asking
from toolwire.sdk import Client
from toolwire.sdk.messages import Provider


def mail_with_a_person(provider: Provider) -> str:
    with Client(asking, provider=provider) as client:
        outcome = client.start(goal="Tell Ada and Bob that we are late.")
        while outcome.pending:
            call = outcome.pending[0]
            print(call.tool_name, call.arguments, call.reason)
            if call.arguments["to"] == "bob@example.org":
                outcome = client.deny(outcome.task_id, call.call_id, reason="Bob knows already")
            else:
                polite = {**call.arguments, "text": "We are a little late."}
                outcome = client.approve(outcome.task_id, call.call_id, arguments=polite)
        return client.task_answer(outcome.task_id)
