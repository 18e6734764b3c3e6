from toolwire.sdk import Options, tool


@tool(risk_level="high")
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


def only_to_us(tool_name: str, arguments: dict[str, object]) -> bool:
    return tool_name == "send_mail" and str(arguments["to"]).endswith("@example.org")


asking = Options(system_prompt="You write mails.", name="mailer", allowed_tools=(send_mail,))
deciding = Options(system_prompt="You write mails.", name="mailer", allowed_tools=(send_mail,), can_use_tool=only_to_us)
