"""`toolwire card add`, `list` and `remove`: the packages of a host, which alone says what may be installed."""

import os
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

from cyclopts import Parameter

from toolwire.cli.card.offers import asked_for_consent, finding_line, offer_text, say_warnings
from toolwire.cli.failure import DONE, Failed
from toolwire.cli.output import print_json, print_table, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of

HERE = HostFlags()
PACKAGES: Final = "/api/v1/card-packages"
FETCH_TIMEOUT_S: Final = 180.0
"""A host waits for a git repository for two minutes."""


def add(
    source: Annotated[
        str, Parameter(help="A folder, an archive, a git URL (with #FOLDER@REF), or OWNER/REPO[/FOLDER][@REF].")
    ],
    /,
    *,
    yes: Annotated[bool, Parameter(negative="", help="Accept it without being asked.")] = False,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Install a card, or update it: shows what agents will read and what it may do, and asks whether you accept that.

    What you do not accept does not run; an older version that you have accepted goes on. Without a terminal to ask at
    it ends with 3, unless `--yes` is there. With `--json`: the package as the REST surface shows it, installed.
    """
    with Rest(target_of(host), timeout_s=FETCH_TIMEOUT_S) as rest:
        installed = consented(rest, offered(rest, source), yes=yes, quiet=json)
    if json:
        print_json(installed)
    else:
        print_text(f"{installed['package']}  {installed['name']} {installed['version']}")
        names = ", ".join(tool["exposed_name"] for tool in installed["tools"])
        say(f"installed; its tools: {names or 'none'}")
    return DONE


def list_packages(*, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """List the installed cards, and those that wait for your consent.

    With `--json`: `{"packages": […]}`, each as the REST surface shows it.
    """
    with Rest(target_of(host)) as rest:
        packages = all_packages(rest)
    if json:
        print_json({"packages": packages})
    else:
        rows = [_row(package) for package in packages]
        columns = ("ID", "NAME", "VERSION", "STATE", "TOOLS", "SOURCE")
        print_table(columns, rows, "no cards yet; install one with `toolwire card add SOURCE`")
    return DONE


def remove(
    package: Annotated[str, Parameter(help="The package's id (pkg_…), or its name if only one has that.")],
    /,
    *,
    force: Annotated[bool, Parameter(negative="", help="Take its copies off all boards, too.")] = False,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Remove a card. While copies of it stand on boards, only with `--force`.

    With `--json`: `{"package", "removed": true}`.
    """
    with Rest(target_of(host)) as rest:
        package_id = find(rest, package)
        rest.ask("DELETE", f"{PACKAGES}/{quote(package_id, safe='')}{'?force=true' if force else ''}")
    if json:
        print_json({"package": package_id, "removed": True})
    else:
        say(f"{package_id} is removed")
    return DONE


def offered(rest: Rest, source: str) -> dict[str, Any]:
    """Hand a source to the host; what it makes of it.

    Raises:
        Failed: it is no source, or cannot be installed.
    """
    try:
        return rest.ask("POST", PACKAGES, {"source": source_for(source)})
    except Failed as failed:
        for error in (failed.data or {}).get("errors", ()):
            say(finding_line("error", error))
        raise


def source_for(source: str) -> str:
    """A source as the host understands it: a path that is here in full, since the host has another current folder."""
    path = Path(source).expanduser()
    here = path.exists() or source.startswith((".", "~")) or source.endswith(os.sep)
    return str(path.resolve()) if here else source


def consented(rest: Rest, offer: dict[str, Any], *, yes: bool, quiet: bool = False) -> dict[str, Any]:
    """Have the owner accept what waits, if something does; the package as it is then.

    Raises:
        Failed: the owner does not accept it, or cannot be asked.
    """
    if not quiet:
        say_warnings(offer)
    if offer["status"] == "installed":
        return offer
    if not quiet:
        say(offer_text(offer))
    accept = True if yes else None if quiet else asked_for_consent(f"install {offer['name']} {offer['version']}?")
    if accept is None:
        words = f"{offer['name']!r} waits for your consent; read what it may do, and add --yes to accept it"
        raise Failed(words, "consent_required", data={"offer": offer})
    place = f"{PACKAGES}/{quote(offer['package'], safe='')}"
    rest.ask("POST", f"{place}/consent", {"digest": offer["digest"], "accept": accept})
    if not accept:
        kept = offer["accepted_version"]
        goes_on = f"; version {kept} goes on" if kept else ""
        raise Failed(f"{offer['name']!r} was not accepted{goes_on}", "consent_required")
    return {**rest.ask("GET", place), "warnings": offer["warnings"]}


def all_packages(rest: Rest) -> list[dict[str, Any]]:
    """The owner's packages."""
    return rest.ask("GET", PACKAGES)["packages"]


def find(rest: Rest, named: str) -> str:
    """The id of a package that is named by it, or by its name.

    Raises:
        Failed: there is none, or more than one of that name.
    """
    if named.startswith("pkg_"):
        return named
    found = [package for package in all_packages(rest) if package["name"] == named]
    if len(found) == 1:
        return found[0]["package"]
    if not found:
        raise Failed(f"there is no package {named!r}; `toolwire card list` shows yours", "package_not_found")
    ids = ", ".join(f"{package['package']} from {package['source']}" for package in found)
    raise Failed(f"{len(found)} packages are named {named!r}: {ids}; name one by its id", "conflict")


def _row(package: dict[str, Any]) -> tuple[str, ...]:
    waits = package["status"] == "consent_required"
    accepted = package["accepted_version"]
    state = "installed" if not waits else f"update to {package['version']} waits" if accepted else "waits for consent"
    tools = ", ".join(tool["exposed_name"] for tool in package["tools"])
    return package["package"], package["name"], accepted or package["version"], state, tools, package["source"]
