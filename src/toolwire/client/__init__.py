"""A typed client of a host's REST surface: `Client` waits for answers, `AsyncClient` is awaited for them."""

from toolwire.client.asks import ApiError
from toolwire.client.calls import Terms, Which
from toolwire.client.clients import AsyncClient, Client
from toolwire.wire.answers.agents import Agent, CreatedAgent, CreatedKey, Grant, Key, Owner
from toolwire.wire.answers.boards import (
    BoardArrow,
    BoardCard,
    CommandEnd,
    EditedBoard,
    WaitingQuestion,
    Workspace,
    WorkspaceSummary,
)
from toolwire.wire.answers.calls import Answer, CallEvent, ErrorEvent, LogEvent, ProgressEvent, ResultEvent, Task
from toolwire.wire.answers.channels import Channel, ChannelMessage, Delivery, History, Published
from toolwire.wire.answers.files import File, UploadedFile
from toolwire.wire.answers.packages import CardPackage
from toolwire.wire.answers.records import AuditAnchor, AuditEntry, CallMoment, CallsMissed, RecordedCall, WholeCall
from toolwire.wire.answers.remotes import Consent, Remote
from toolwire.wire.answers.webhooks import RegisteredWebhook, SentEvent
from toolwire.wire.link import Registration, Skill

__all__ = [
    "Agent",
    "Answer",
    "ApiError",
    "AsyncClient",
    "AuditAnchor",
    "AuditEntry",
    "BoardArrow",
    "BoardCard",
    "CallEvent",
    "CallMoment",
    "CallsMissed",
    "CardPackage",
    "Channel",
    "ChannelMessage",
    "Client",
    "CommandEnd",
    "Consent",
    "CreatedAgent",
    "CreatedKey",
    "Delivery",
    "EditedBoard",
    "ErrorEvent",
    "File",
    "Grant",
    "History",
    "Key",
    "LogEvent",
    "Owner",
    "ProgressEvent",
    "Published",
    "RecordedCall",
    "RegisteredWebhook",
    "Registration",
    "Remote",
    "ResultEvent",
    "SentEvent",
    "Skill",
    "Task",
    "Terms",
    "UploadedFile",
    "WaitingQuestion",
    "Which",
    "WholeCall",
    "Workspace",
    "WorkspaceSummary",
]
