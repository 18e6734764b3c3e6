"""What a client asks about files and webhooks; it sends nothing.

Spec: gateway.md 22-24, 34, 38.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from toolwire.client.asks import Ask, Flow, delete, get, part, post, present
from toolwire.client.contents import Content, Pull
from toolwire.client.doors import D, Group, Method, Pieces
from toolwire.wire.answers.files import AnnouncedFile, File, FilePage, UploadedFile
from toolwire.wire.answers.webhooks import RegisteredWebhook, Replayed, SentEvent


class FileCalls(Group[D]):
    """Files, by any key."""

    @Method
    def upload(self, filename: str, content_type: str, content: Content) -> Flow[UploadedFile]:
        """Keep a file; its id goes into the attachments of calls.

        A `Path` is read as it goes out, and so are pieces; neither is ever in memory as a whole.

        Raises:
            FileNotFoundError: there is no file at that path.
        """
        size = content.stat().st_size if isinstance(content, Path) else None
        body = {"filename": filename, "content_type": content_type}
        announced: AnnouncedFile = yield post("/files/presign-upload", AnnouncedFile, body)
        uploaded: UploadedFile = yield Ask(
            method="PUT",
            path=announced.upload_url,
            answers=UploadedFile,
            content=content,
            headers={"content-type": announced.content_type, **_length(size)},
            signed=True,
        )
        return uploaded

    @Method
    def list(self, after: str | None = None, limit: int | None = None) -> Ask[FilePage]:
        """The owner's files, the oldest first, after the one with an id, and how much room they take."""
        return get("/files", FilePage, {"after": after, "limit": limit})

    @Method
    def get(self, file_id: str) -> Ask[File]:
        """What is known of a file, with a fresh address of its content."""
        return get(f"/files/{part(file_id)}", File)

    @Method
    def download(self, file_id: str) -> Flow[bytes]:
        """The content of a file, as a whole; `stream` is for large ones."""
        file: File = yield get(f"/files/{part(file_id)}", File)
        content: bytes = yield Ask(method="GET", path=file.download_url, answers=bytes, idempotent=True, signed=True)
        return content

    @Pieces
    def stream(self, file_id: str, start: int = 0) -> Pull:
        """The content of a file in pieces, from a byte on; over breaks of the connection, too."""
        return Pull(get(f"/files/{part(file_id)}", File), start)

    @Method
    def remove(self, file_id: str) -> Ask[None]:
        """Forget a file, which makes room for others."""
        return delete(f"/files/{part(file_id)}")


class WebhookCalls(Group[D]):
    """Webhooks of an agent, or of one of its tasks, by an owner's or a caller's key."""

    @Method
    def register(
        self,
        agent: str,
        url: str,
        *,
        task_id: str | None = None,
        secret: str | None = None,
        token: str | None = None,
        events: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
    ) -> Ask[RegisteredWebhook]:
        """Register a webhook; to the same URL again it changes what is there."""
        body = present(url=url, secret=secret, token=token, events=events, tools=tools)
        return post(_webhooks(agent, task_id), RegisteredWebhook, body)

    @Method
    def list(self, agent: str, task_id: str | None = None) -> Ask["list[RegisteredWebhook]"]:
        """The webhooks there."""
        return get(_webhooks(agent, task_id), list[RegisteredWebhook])

    @Method
    def get(self, agent: str, webhook_id: str, task_id: str | None = None) -> Ask[RegisteredWebhook]:
        """One webhook."""
        return get(f"{_webhooks(agent, task_id)}/{part(webhook_id)}", RegisteredWebhook)

    @Method
    def remove(self, agent: str, webhook_id: str, task_id: str | None = None) -> Ask[None]:
        """Delete a webhook; nothing more is sent."""
        return delete(f"{_webhooks(agent, task_id)}/{part(webhook_id)}")

    @Method
    def deliveries(
        self, agent: str, webhook_id: str, task_id: str | None = None, limit: int | None = None
    ) -> Ask["list[SentEvent]"]:
        """The newest deliveries of a webhook."""
        path = f"{_webhooks(agent, task_id)}/{part(webhook_id)}/deliveries"
        return get(path, list[SentEvent], {"limit": limit})

    @Method
    def redeliver(self, agent: str, webhook_id: str, delivery_id: str, task_id: str | None = None) -> Ask[SentEvent]:
        """Send a delivery that was given up once more."""
        path = f"{_webhooks(agent, task_id)}/{part(webhook_id)}/deliveries/{part(delivery_id)}/redeliver"
        return post(path, SentEvent)

    @Method
    def replay(
        self,
        agent: str,
        webhook_id: str,
        task_id: str | None = None,
        *,
        statuses: Sequence[Literal["failed", "dead_letter"]] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Ask[Replayed]:
        """Send all deliveries that were given up once more, or those of a time or status; times are RFC 3339."""
        path = f"{_webhooks(agent, task_id)}/{part(webhook_id)}/replay"
        return post(path, Replayed, present(status=statuses, since=since, until=until))


def _length(size: int | None) -> dict[str, str]:
    return {} if size is None else {"content-length": str(size)}


def _webhooks(agent: str, task_id: str | None) -> str:
    task = "" if task_id is None else f"/tasks/{part(task_id)}"
    return f"/agents/{part(agent)}{task}/webhooks"
