"""Write tools and bundle them: the names an author imports, each defined in the module it is imported from."""

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
