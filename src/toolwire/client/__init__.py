"""A typed client of a host's REST surface: `Client` waits for answers, `AsyncClient` is awaited for them."""

from toolwire.client.asks import ApiError
from toolwire.client.calls import Terms, Which
from toolwire.client.clients import AsyncClient, Client
from toolwire.wire.answers.agents import Agent, CreatedAgent, CreatedKey, Key, Owner
from toolwire.wire.answers.boards import BoardArrow, BoardCard, Workspace, WorkspaceSummary
from toolwire.wire.answers.calls import Answer, CallEvent, ErrorEvent, LogEvent, ProgressEvent, ResultEvent, Task
from toolwire.wire.answers.files import File, UploadedFile
from toolwire.wire.answers.packages import CardPackage
from toolwire.wire.answers.records import CallMoment, CallsMissed, RecordedCall, WholeCall
from toolwire.wire.answers.webhooks import RegisteredWebhook, SentEvent

__all__ = [
    "Agent",
    "Answer",
    "ApiError",
    "AsyncClient",
    "BoardArrow",
    "BoardCard",
    "CallEvent",
    "CallMoment",
    "CallsMissed",
    "CardPackage",
    "Client",
    "CreatedAgent",
    "CreatedKey",
    "ErrorEvent",
    "File",
    "Key",
    "LogEvent",
    "Owner",
    "ProgressEvent",
    "RecordedCall",
    "RegisteredWebhook",
    "ResultEvent",
    "SentEvent",
    "Task",
    "Terms",
    "UploadedFile",
    "Which",
    "WholeCall",
    "Workspace",
    "WorkspaceSummary",
]
