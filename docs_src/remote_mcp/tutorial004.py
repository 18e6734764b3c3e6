import os

from toolwire.sdk import Credentials, HostConfig, McpHttpServerSpec, SignIn

SERVERS = {
    "issues": McpHttpServerSpec("issues", "https://issues.example.org/mcp", auth=SignIn()),
    "billing": McpHttpServerSpec(
        "billing",
        "https://billing.example.org/mcp",
        auth=Credentials(
            client_id="my-agent",
            client_secret=os.environ.get("BILLING_SECRET", ""),
            issuer="https://login.example.org",
        ),
    ),
}

host_config = HostConfig(mcp_server_resolver=SERVERS.get)
