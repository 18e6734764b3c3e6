"""`toolwire grant list` and `revoke`: what OAuth clients may do in your name; it keeps nothing."""

from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter

from toolwire.cli.failure import DONE
from toolwire.cli.output import print_json, print_table, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of

HERE = HostFlags()


def list_grants(*, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """List the OAuth clients that may call agents of yours, and which.

    With `--json`: `{"grants": […]}`, each as the REST surface shows it.
    """
    with Rest(target_of(host)) as rest:
        grants: list[dict[str, Any]] = rest.ask("GET", "/api/v1/grants")
    if json:
        print_json({"grants": grants})
    else:
        print_table(("ID", "CLIENT", "AT", "AGENTS", "RENEWED", "ENDS"), [_row(grant) for grant in grants], "no grants")
    return DONE


def revoke(
    grant_id: Annotated[str, Parameter(help="The grant's id, as `grant list` shows it.")],
    /,
    *,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """End what an OAuth client may do, from now on.

    With `--json`: `{"grant_id", "revoked": true}`.
    """
    with Rest(target_of(host)) as rest:
        rest.ask("DELETE", f"/api/v1/grants/{quote(grant_id, safe='')}")
    if json:
        print_json({"grant_id": grant_id, "revoked": True})
    else:
        say(f"{grant_id} opens nothing any more")
    return DONE


def _row(grant: dict[str, Any]) -> tuple[str, ...]:
    return (
        grant["grant_id"],
        grant["client_name"],
        grant["redirect_host"],
        ", ".join(grant["agents"]),
        grant["renewed_at"],
        grant["expires_at"],
    )
