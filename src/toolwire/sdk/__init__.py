"""Write tools and run agents: the names an author imports, each defined in the module it is imported from.

What a tool's author needs is loaded at once; what runs agents is loaded by its first use, so that importing this stays
light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolwire.sdk.asking import AskForm as AskForm
from toolwire.sdk.asking import AskModel as AskModel
from toolwire.sdk.asking import AskPage as AskPage
from toolwire.sdk.asking import AskRoots as AskRoots
from toolwire.sdk.asking import Elicited as Elicited
from toolwire.sdk.asking import Root as Root
from toolwire.sdk.asking import Sampled as Sampled
from toolwire.sdk.bundle import SdkMcpServer as SdkMcpServer
from toolwire.sdk.bundle import create_sdk_mcp_server as create_sdk_mcp_server
from toolwire.sdk.content import ContentRef as ContentRef
from toolwire.sdk.content import ContentStore as ContentStore
from toolwire.sdk.content import Image as Image
from toolwire.sdk.content import MemoryContentStore as MemoryContentStore
from toolwire.sdk.content import Resource as Resource
from toolwire.sdk.context import ToolContext as ToolContext
from toolwire.sdk.result import Refuse as Refuse
from toolwire.sdk.result import ToolError as ToolError
from toolwire.sdk.result import ToolResult as ToolResult
from toolwire.sdk.tool import DecoratedTool as DecoratedTool
from toolwire.sdk.tool import ToolOptions as ToolOptions
from toolwire.sdk.tool import ToolRef as ToolRef
from toolwire.sdk.tool import tool as tool

if TYPE_CHECKING:
    from toolwire.sdk.async_client import AsyncClient as AsyncClient
    from toolwire.sdk.builtin.workspace import WorkspaceEscape as WorkspaceEscape
    from toolwire.sdk.client import Client as Client
    from toolwire.sdk.client_core import SuspendReason as SuspendReason
    from toolwire.sdk.client_core import TaskStatus as TaskStatus
    from toolwire.sdk.errors import AgentError as AgentError
    from toolwire.sdk.errors import InvalidTurnOptionError as InvalidTurnOptionError
    from toolwire.sdk.errors import NotResumableError as NotResumableError
    from toolwire.sdk.errors import ProviderError as ProviderError
    from toolwire.sdk.errors import QueryFailedError as QueryFailedError
    from toolwire.sdk.events import EventEnvelope as EventEnvelope
    from toolwire.sdk.events import envelope_to_dict as envelope_to_dict
    from toolwire.sdk.guards import Decision as Decision
    from toolwire.sdk.guards import Guard as Guard
    from toolwire.sdk.guards import GuardContext as GuardContext
    from toolwire.sdk.guards import HooksConfig as HooksConfig
    from toolwire.sdk.guards import MatchArg as MatchArg
    from toolwire.sdk.guards import PreToolUseRule as PreToolUseRule
    from toolwire.sdk.guards import ProposedAction as ProposedAction
    from toolwire.sdk.guards import ProposedFinish as ProposedFinish
    from toolwire.sdk.guards import ProposedSpawnSubtask as ProposedSpawnSubtask
    from toolwire.sdk.guards import ProposedToolCall as ProposedToolCall
    from toolwire.sdk.guards import VerdictResult as VerdictResult
    from toolwire.sdk.messages import Delta as Delta
    from toolwire.sdk.messages import ImageBlock as ImageBlock
    from toolwire.sdk.messages import LLMProvider as LLMProvider
    from toolwire.sdk.messages import LLMRequest as LLMRequest
    from toolwire.sdk.messages import LLMResponse as LLMResponse
    from toolwire.sdk.messages import Message as Message
    from toolwire.sdk.messages import Provider as Provider
    from toolwire.sdk.messages import StreamingProvider as StreamingProvider
    from toolwire.sdk.messages import TextBlock as TextBlock
    from toolwire.sdk.messages import TextDelta as TextDelta
    from toolwire.sdk.messages import ThinkingBlock as ThinkingBlock
    from toolwire.sdk.messages import ThinkingDelta as ThinkingDelta
    from toolwire.sdk.messages import ToolProgress as ToolProgress
    from toolwire.sdk.messages import ToolResultBlock as ToolResultBlock
    from toolwire.sdk.messages import ToolUseBlock as ToolUseBlock
    from toolwire.sdk.messages import ToolUseDelta as ToolUseDelta
    from toolwire.sdk.messages import Usage as Usage
    from toolwire.sdk.models import AnthropicProvider as AnthropicProvider
    from toolwire.sdk.models import OpenAIProvider as OpenAIProvider
    from toolwire.sdk.one_goal import QueryResult as QueryResult
    from toolwire.sdk.one_goal import aquery as aquery
    from toolwire.sdk.one_goal import query as query
    from toolwire.sdk.options import NEXT_GOAL_WAKE_HANDLE as NEXT_GOAL_WAKE_HANDLE
    from toolwire.sdk.options import AgentDefinition as AgentDefinition
    from toolwire.sdk.options import BudgetSpec as BudgetSpec
    from toolwire.sdk.options import HostConfig as HostConfig
    from toolwire.sdk.options import Observer as Observer
    from toolwire.sdk.options import Options as Options
    from toolwire.sdk.options import effort_modes as effort_modes
    from toolwire.sdk.options import permission_modes as permission_modes
    from toolwire.sdk.payloads import HumanResponseReceived as HumanResponseReceived
    from toolwire.sdk.remote.access import Assertion as Assertion
    from toolwire.sdk.remote.access import Credentials as Credentials
    from toolwire.sdk.remote.access import Enterprise as Enterprise
    from toolwire.sdk.remote.access import SignIn as SignIn
    from toolwire.sdk.remote.servers import McpConfigError as McpConfigError
    from toolwire.sdk.remote.servers import McpHttpServerSpec as McpHttpServerSpec
    from toolwire.sdk.remote.servers import McpServerSpec as McpServerSpec
    from toolwire.sdk.remote.servers import Toolbox as Toolbox
    from toolwire.sdk.turns.compiled import AgentSpec as AgentSpec
    from toolwire.sdk.turns.compiled import compile_options as compile_options
    from toolwire.sdk.turns.runner import DriveOutcome as DriveOutcome
    from toolwire.sdk.turns.runner import PendingApproval as PendingApproval
    from toolwire.sdk.turns.runner import SeededTurn as SeededTurn
    from toolwire.sdk.views import AssistantMessage as AssistantMessage
    from toolwire.sdk.views import InjectedMessage as InjectedMessage
    from toolwire.sdk.views import Result as Result
    from toolwire.sdk.views import ToolResultView as ToolResultView
    from toolwire.sdk.views import ToolUse as ToolUse
    from toolwire.sdk.views import UserMessage as UserMessage
    from toolwire.sdk.views import ViewItem as ViewItem

_HOMES = """
async_client: AsyncClient
builtin.workspace: WorkspaceEscape
client: Client
client_core: SuspendReason TaskStatus
turns.compiled: AgentSpec compile_options
errors: AgentError InvalidTurnOptionError NotResumableError ProviderError QueryFailedError
events: EventEnvelope envelope_to_dict
guards: Decision Guard GuardContext HooksConfig MatchArg PreToolUseRule VerdictResult
guards: ProposedAction ProposedFinish ProposedSpawnSubtask ProposedToolCall
messages: Delta TextDelta ThinkingDelta ToolProgress ToolUseDelta
messages: ImageBlock Message TextBlock ThinkingBlock ToolResultBlock ToolUseBlock Usage
messages: LLMProvider LLMRequest LLMResponse Provider StreamingProvider
models: AnthropicProvider OpenAIProvider
one_goal: QueryResult aquery query
options: AgentDefinition BudgetSpec HostConfig NEXT_GOAL_WAKE_HANDLE Observer Options effort_modes permission_modes
payloads: HumanResponseReceived
remote.access: Assertion Credentials Enterprise SignIn
remote.servers: McpConfigError McpHttpServerSpec McpServerSpec Toolbox
turns.runner: DriveOutcome PendingApproval SeededTurn
views: AssistantMessage InjectedMessage Result ToolResultView ToolUse UserMessage ViewItem
"""
_MODULES = {
    name: module
    for module, _, names in (line.partition(": ") for line in _HOMES.strip().splitlines())
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
