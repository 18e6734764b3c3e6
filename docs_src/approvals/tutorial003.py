from docs_src.approvals.tutorial001 import send_mail
from toolwire.sdk import (
    GuardContext,
    HooksConfig,
    HostConfig,
    MatchArg,
    Options,
    PreToolUseRule,
    ProposedToolCall,
    VerdictResult,
)


class NoMailAtNight:
    """Deny mails, whatever else says yes."""

    name = "no-mail-at-night"
    priority = 50
    night = True

    def check(self, action: object, ctx: GuardContext) -> VerdictResult:
        if self.night and isinstance(action, ProposedToolCall) and action.call.tool_name == "send_mail":
            return VerdictResult.deny("no mails before morning")
        return VerdictResult.allow()


guarded = Options(
    system_prompt="You write mails.",
    allowed_tools=(send_mail, "Bash"),
    permission_mode="bypassPermissions",
    guards=(NoMailAtNight(),),
)

ruled = HostConfig(
    hooks=HooksConfig(
        pre_tool_use=(
            PreToolUseRule("Bash", "deny", MatchArg("command", "regex", pattern=r"\bsudo\b"), "never as root"),
            PreToolUseRule("Bash", "require_approval"),
        )
    )
)
