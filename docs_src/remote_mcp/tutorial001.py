from toolwire.sdk import HostConfig, McpHttpServerSpec, McpServerSpec

SERVERS = {
    "sums": McpServerSpec("sums", ("toolwire", "tools", "serve", "docs_src/serve_tools/tutorial001.py")),
    "search": McpHttpServerSpec(
        "search",
        "https://mcp.example.org/mcp",
        headers={"Authorization": "Bearer …"},
        tool_subset=("web_search",),
        call_timeout_s=30,
        trust_annotations=True,
    ),
}

host_config = HostConfig(mcp_server_resolver=SERVERS.get)
