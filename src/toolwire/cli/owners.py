"""`toolwire owner create`."""

from typing import Annotated

from cyclopts import Parameter

from toolwire.cli.failure import DONE
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of

HERE = HostFlags()


def create(
    name: Annotated[str, Parameter(help="What the owner is called.")],
    /,
    *,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Make another owner, whose agents and keys are apart from yours. Only the first owner may.

    With `--json`: `{"owner_id", "owner_key"}`.
    """
    with Rest(target_of(host)) as rest:
        made = rest.ask("POST", "/api/v1/owners", {"name": name})
    shown = {"owner_id": made["owner_id"], "owner_key": made["owner_key"]}
    if json:
        print_json(shown)
    else:
        print_text(f"owner_id   {shown['owner_id']}\nowner_key  {shown['owner_key']}")
        say("keep the key: it is not shown again")
    return DONE
