from toolwire.sdk import Options, Toolbox

options = Options(
    system_prompt="You do what your tools can.",
    allowed_tools=(),
    toolbox=Toolbox("http://127.0.0.1:8094/agent_…/toolbox/mcp", key="agk_…"),
)
