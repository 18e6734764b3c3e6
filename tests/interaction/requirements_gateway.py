"""What a gateway owes the clients of an agent beside tools; see requirements.py for the rest."""

from tests.interaction.requirement import GATEWAY, SPEC_2025, SPEC_2026, Requirement

GATEWAY_REQUIREMENTS: dict[str, Requirement] = {
    # An agent on a gateway
    "agent.own-resources": Requirement(
        "Every agent, attached or not, has resources that tell of it, under our scheme and under beeos.",
        "gateway.md 51, §6",
        GATEWAY,
    ),
    "agent.capabilities": Requirement(
        "Resources and prompts are always there, with empty lists where there are none; completions where some are.",
        "gateway.md 51; mcp.md S36",
        GATEWAY,
    ),
    "agent.offline": Requirement(
        "What only the agent can answer is agent_offline at once while it is away; lists and what the registration "
        "holds are answered all the same.",
        "gateway.md §6",
        GATEWAY,
    ),
    "agent.lists-changed": Requirement(
        "A registration that differs is told, list by list; the same one again is not.",
        f"{SPEC_2025}/server/resources#list-changed-notification; {SPEC_2026}/basic/utilities/subscriptions",
        GATEWAY,
    ),
    "agent.restart": Requirement(
        "After a restart of the gateway a question waits for the agent that was attached before.",
        "gateway.md §6",
        GATEWAY,
    ),
    "gateway.reported": Requirement(
        "What was reported of other servers is right on an agent's endpoint too.",
        "mcp.md S7, S11, S12, S14, S21, S22, S27, S36",
        GATEWAY,
    ),
    "agent.asking": Requirement(
        "What an agent asks outlives its link: the answer reaches it when it comes again.",
        "gateway.md §6; docs/adr/0015",
        GATEWAY,
    ),
    "agent.bad-answer": Requirement(
        "An agent's answer that is none is -32603 with invalid_agent_response.", "gateway.md D17", GATEWAY
    ),
}
