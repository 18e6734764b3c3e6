"""Attach an agent to a gateway: the names an author imports; it imports no server and no WebSocket library."""

from toolwire.agent.agent import Agent as Agent
from toolwire.agent.agent import run_agent as run_agent
from toolwire.agent.context import Ctx as Ctx
from toolwire.agent.files import AttachedFile as AttachedFile
from toolwire.agent.journal import Answer as Answer
from toolwire.agent.journal import Journal as Journal
from toolwire.agent.journal import MemoryJournal as MemoryJournal
from toolwire.agent.journal_file import FileJournal as FileJournal
from toolwire.agent.tools import AgentToolOptions as AgentToolOptions
from toolwire.agent.worker import Limits as Limits
from toolwire.sdk.content import Image as Image
from toolwire.sdk.content import Resource as Resource
from toolwire.sdk.result import Refuse as Refuse
from toolwire.sdk.result import ToolError as ToolError
from toolwire.sdk.result import ToolResult as ToolResult
