import os

from standardwebhooks import Webhook, WebhookVerificationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

seen: set[str] = set()
ended: list[tuple[str, str]] = []


async def hook(request: Request) -> Response:
    """Take a delivery: check it, ignore what was here already, and answer soon."""
    verifier = Webhook(os.environ["WEBHOOK_SECRET"].encode())
    try:
        event = verifier.verify(await request.body(), dict(request.headers))
    except WebhookVerificationError:
        return Response(status_code=401)
    if event["event_id"] not in seen and event["final"]:
        ended.append((event["task_id"], event["status"]))
    seen.add(event["event_id"])
    return Response(status_code=204)


app = Starlette(routes=[Route("/hook", hook, methods=["POST"])])
