"""`toolwire consent list`, `show`, `accept` and `refuse`: definitions that are held until you accept them.

It judges none of them. An id stands for exactly one definition: what has changed once more since it was shown cannot be
accepted by it.
"""

from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter

from toolwire.cli.failure import DONE
from toolwire.cli.output import print_json, print_table, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of

HERE = HostFlags()
ConsentId = Annotated[str, Parameter(help="Its id, as `consent list` shows it.")]


def list_consents(*, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """List the tools of your remote servers that are held, because they are new or have changed.

    With `--json`: `{"consents": […]}`, each as the REST surface shows it.
    """
    with Rest(target_of(host)) as rest:
        consents: list[dict[str, Any]] = rest.ask("GET", "/api/v1/consents")
    if json:
        print_json({"consents": consents})
    else:
        rows = [(each["consent_id"], each["agent"], each["tool"], each["kind"], each["state"]) for each in consents]
        print_table(("ID", "SERVER", "TOOL", "KIND", "STATE"), rows, "nothing is held")
    return DONE


def show(consent_id: ConsentId, /, *, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """Show what has changed of a tool, as `diff -u` does.

    With `--json`: the consent, as the REST surface shows it.
    """
    with Rest(target_of(host)) as rest:
        consent: dict[str, Any] = rest.ask("GET", _path(consent_id))
    if json:
        print_json(consent)
    else:
        print_text(f"{consent['agent']}: {consent['tool']} ({consent['kind']}, {consent['state']})\n{consent['diff']}")
    return DONE


def accept(consent_id: ConsentId, /, *, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """Accept a tool as it was shown; it may be called from now on.

    With `--json`: `{"consent_id", "accepted": true}`.
    """
    return _answer(consent_id, host, json, accepted=True)


def refuse(consent_id: ConsentId, /, *, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """Refuse a tool as it was shown: it stays held, until you accept it after all or it changes once more.

    With `--json`: `{"consent_id", "accepted": false}`.
    """
    return _answer(consent_id, host, json, accepted=False)


def _answer(consent_id: str, host: HostFlags, json: bool, *, accepted: bool) -> int:
    with Rest(target_of(host)) as rest:
        answered: dict[str, Any] = rest.ask("POST", _path(consent_id), {"accept": accepted})
    if json:
        print_json(answered)
    else:
        say(f"{consent_id} is accepted" if accepted else f"{consent_id} is refused and stays held")
    return DONE


def _path(consent_id: str) -> str:
    return f"/api/v1/consents/{quote(consent_id, safe='')}"
