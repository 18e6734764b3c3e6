"""Puts the parts together that have to do with files; it decides nothing by itself."""

from msgspec import Struct

from toolwire.compose import Opened
from toolwire.config import Config
from toolwire.core.ports import Clock
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.attachments import AttachmentRules, Attachments
from toolwire.gateway.file_links import FileLinks
from toolwire.gateway.files import FileRules, Files
from toolwire.gateway.result_files import ResultFiles, ResultRules


class FileService(Struct, frozen=True):
    """Files, those that come along with calls, and those that come of them."""

    files: Files
    attachments: Attachments
    clock: Clock
    rules: ResultRules

    def settler(self, agent: AgentRecord, agents: Agents) -> ResultFiles:
        """Looks after files in what one agent answers."""

        def has_schema(tool: str) -> bool:
            entry = agents.catalog(agent.agent_id).get(tool)
            return entry is not None and entry.tool.output_schema is not None

        def key_ttl_s() -> float | None:
            record = agents.known(agent.agent_id)
            return None if record is None else record.idempotency_ttl_s

        return ResultFiles(self.files, (agent.owner, agent.agent_id), self.clock, self.rules, has_schema, key_ttl_s)


def file_service(config: Config, opened: Opened) -> FileService:
    """Files on these ports."""
    links = FileLinks(opened.secret, opened.clock, config.public_url or "")
    rules = FileRules(
        config.file_limit_bytes,
        config.owner_files_limit_bytes,
        config.upload_url_ttl_s,
        config.download_url_ttl_s,
        config.file_ttl_s,
    )
    files = Files(opened.store, opened.blobs, opened.clock, links, rules)
    limits = AttachmentRules(config.attachments_max, config.keyed_deadline_s, config.strict_files)
    attachments = Attachments(files, opened.clock, limits)
    # A result is read again for as long as its record or its key is there.
    url_ttl_s = max(24 * 3600.0, config.idempotency_ttl_s, config.history_ttl_s, config.download_url_ttl_s)
    return FileService(files, attachments, opened.clock, ResultRules(config.result_inline_limit_bytes, url_ttl_s))
