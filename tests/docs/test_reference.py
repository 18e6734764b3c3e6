"""The reference pages say all there is, and nothing that is not."""

import re

import pytest

from tests.docs.pages import read, rows, section
from toolwire import config
from toolwire.cli.explain import shown
from toolwire.cli.main import COMMANDS, make_app
from toolwire.config import OTHER_VARIABLES
from toolwire.core.error_rows import ERRORS, GATEWAY_OVERRIDES, ErrorRow

ERRORS_PAGE = read("docs/reference/errors.md")
SETTINGS_PAGE = read("docs/reference/settings.md")
CLI_PAGE = read("docs/reference/cli.md")


def error_rows() -> dict[str, list[str]]:
    return {row[0].strip("`"): row[1:] for row in rows(ERRORS_PAGE) if len(row) == 5}


def test_every_error_code_has_a_row_that_says_what_to_do():
    """gateway.md §6: "Docs list each with what to do"."""
    assert set(error_rows()) == set(ERRORS)
    for code, (*_, advice) in error_rows().items():
        assert len(advice) > 30, code
        assert advice.endswith("."), code


@pytest.mark.parametrize("code", ERRORS)
def test_an_errors_row_has_the_numbers_of_the_wires(code: str):
    row = ERRORS[code]
    jsonrpc, http, again, advice = error_rows()[code]

    assert jsonrpc == f"−{-row.jsonrpc}"
    assert http == f"{row.http_legacy} / {row.http_modern} / {row.http_rest}"
    assert again == ("yes" if row.retryable else "no")
    override: ErrorRow | None = GATEWAY_OVERRIDES.get(code)
    if override is not None:
        numbers = f"{override.http_legacy} / {override.http_modern} / {override.http_rest}"
        assert f"−{-override.jsonrpc} with {numbers}" in advice


def test_every_setting_has_a_row_with_its_default_and_meaning():
    table = {row[0].strip("`"): row[1:] for row in rows(SETTINGS_PAGE) if len(row) == 4}

    assert list(table) == list(config.keys())
    for name, info in config.keys().items():
        default = "none" if info.default is None else f"`{shown(info.default)}`"
        assert table[name] == [f"`{config.variable_of(name)}`", default, info.description]


def test_every_other_variable_is_named():
    table = [row[0].strip("`") for row in rows(section(SETTINGS_PAGE, "Variables that are no settings"))]
    assert {name.removeprefix("TOOLWIRE_") for name in table} == OTHER_VARIABLES


def test_every_command_has_a_section():
    assert re.findall(r"^## `toolwire (.+)`$", CLI_PAGE, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_commands_section_has_its_flags_and_no_others(command: str):
    app = make_app()
    for word in command.split():
        app = app[word]
    flags = {name for argument in app.assemble_argument_collection() for name in argument.names if name[:2] == "--"}

    told = {
        flag for row in rows(section(CLI_PAGE, f"`toolwire {command}`")) for flag in re.findall(r"`(--[\w-]+)`", row[0])
    }

    assert told == flags


def test_every_code_of_the_command_line_is_named():
    table = {row[0].strip("`") for row in rows(section(ERRORS_PAGE, "Codes of the command line alone"))}
    assert {
        "usage",
        "config",
        "no_host",
        "port_in_use",
        "data_in_use",
        "data_folder",
        "module",
        "missing_extra",
    } <= table
