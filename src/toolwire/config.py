"""What can be set, and from where: `toolwire.toml`, `TOOLWIRE_*` variables and flags become one `Config`.

It opens nothing and keeps no global: it is read once, and `compose` passes the values on.
"""

import difflib
import math
import re
import tomllib
import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

FILE_NAME: Final = "toolwire.toml"
VARIABLE_PREFIX: Final = "TOOLWIRE_"
OTHER_VARIABLES: Final = frozenset(
    {"CONFIG", "URL", "KEY", "AGENT_KEY", "CLIENT_ID", "CLIENT_SECRET", "SECRET", "DEBUG"}
)
"""Variables with our prefix that are no settings: what to read, whom to ask by which key, as whom to sign in, what to
seal with, how to fail."""

MAX_SECONDS: Final = 10 * 365 * 24 * 3600.0
"""Ten years: beyond it a duration is a slip, such as milliseconds."""


def _says(description: str = "", expected: str | None = None, **limits: Any) -> Meta:
    """What the reference says of a key, and what its values must keep to."""
    return Meta(description=description or None, extra={"expected": expected} if expected else None, **limits)


Seconds = Annotated[float, _says(expected="a number of seconds above 0", gt=0, le=MAX_SECONDS)]
SecondsOrZero = Annotated[float, _says(expected="a number of seconds, 0 or more", ge=0, le=MAX_SECONDS)]
Count = Annotated[int, _says(expected="a whole number, 0 or more", ge=0, le=1_000_000_000)]
Bytes = Annotated[int, _says(expected="a whole number of bytes, 1024 at least", ge=1024)]
Words = Annotated[tuple[str, ...], _says(expected="a list of strings (in a variable: separated by commas)")]
Text = Annotated[str, Meta(min_length=1)]
Wait = Annotated[float, Meta(gt=0, le=MAX_SECONDS)]
Networks = Annotated[tuple[str, ...], _says(expected="a list of networks such as 10.0.0.0/8")]


class Config(Struct, frozen=True):
    """Every setting, with its default. Durations are in seconds, sizes in bytes.

    Spec: gateway.md 1J and §6, "Commands and settings".
    """

    host: Annotated[Text, _says("Address to listen on.", "an address")] = "127.0.0.1"
    port: Annotated[
        int, _says("Port to listen on; 0 takes a free one.", "a port number from 0 to 65535", ge=0, le=65535)
    ] = 8094
    data: Annotated[
        Text, _says("Folder for everything that is kept; a relative path starts at the current folder.", "a path")
    ] = ".toolwire"
    public_url: Annotated[
        str | None,
        _says(
            "Where the gateway is reached from outside, if a proxy stands before it.",
            "a URL such as https://tools.example.com, without a path",
        ),
    ] = None
    allowed_hosts: Annotated[
        Words, _says("More names, or name:port, that requests may be addressed to; `*` lets all in.")
    ] = ()
    allowed_origins: Annotated[
        Words, _says("Origins of browser pages that may ask, such as https://app.example.com; `*` lets all in.")
    ] = ()
    call_timeout_s: Annotated[
        Seconds, _says("How long a caller waits for an answer, unless the tool or the caller says otherwise.")
    ] = 60.0
    keyed_deadline_s: Annotated[
        Seconds, _says("How long a call with an idempotency key may go on after its caller has given up.")
    ] = 600.0
    idempotency_ttl_s: Annotated[Seconds, _says("How long an idempotency key is remembered with its result.")] = (
        86_400.0
    )
    idempotency_in_flight: Annotated[
        Literal["join", "conflict"],
        _says(
            "What a repeat under the key of a running call does: wait for the same end, or be refused as a `conflict`.",
            "join or conflict",
        ),
    ] = "join"
    task_timeout_s: Annotated[
        Seconds, _says("How long a task, a call that its client need not wait for, may take, unless its tool says so.")
    ] = 86_400.0
    task_ttl_s: Annotated[
        Seconds, _says("How long a task's end can be asked for after its time-out, however early it comes.")
    ] = 3_600.0
    task_poll_s: Annotated[Seconds, _says("How often clients are asked to look at a task at most.")] = 1.0
    attachments_max: Annotated[
        int, _says("Attachments that one call may have.", "a whole number from 0 to 1000", ge=0, le=1000)
    ] = 16
    file_limit_bytes: Annotated[Bytes, _says("The largest file that may be uploaded.")] = 100 * 1024**2
    owner_files_limit_bytes: Annotated[
        Bytes, _says("How much the files of one owner may take together; an upload beyond it is refused.")
    ] = 1024**3
    upload_url_ttl_s: Annotated[Seconds, _says("How long an `upload_url` may be used, once.")] = 900.0
    download_url_ttl_s: Annotated[
        Seconds, _says("How long a `download_url` leads to its file; to an agent at least as long as its call takes.")
    ] = 3_600.0
    file_ttl_s: Annotated[Seconds, _says("How long a file is kept after its upload.")] = 2_592_000.0
    strict_files: Annotated[
        bool,
        _says("Let a `bak_` send along only what it has uploaded or was given, not all of its owner.", "true or false"),
    ] = False
    result_inline_limit_bytes: Annotated[
        Bytes, _says("The largest result that is answered as it is; above it, the parts of a result become files.")
    ] = 1024**2
    blob_url: Annotated[
        str | None,
        _says(
            "Bucket for files and large results, instead of the data folder; its keys are read from `AWS_…` variables.",
            "a URL such as s3://bucket/prefix",
        ),
    ] = None
    blob_endpoint_url: Annotated[
        str | None,
        _says("Where the bucket's store is, if it is not Amazon's.", "a URL such as https://s3.example.com"),
    ] = None
    blob_region: Annotated[str | None, _says("Region of the bucket; else `AWS_REGION`.", "a region")] = None
    audit_bodies: Annotated[
        bool, _says("Keep what calls say in the audit chain, and not its digests alone.", "true or false")
    ] = False
    audit_ttl_s: Annotated[
        SecondsOrZero, _says("How long entries of the audit chain are kept, to the end of their day (UTC); 0 for ever.")
    ] = 0.0
    revoked_key_ttl_s: Annotated[
        Seconds, _says("How long a revoked key is listed; then nothing is known of it any more.")
    ] = 2_592_000.0
    call_bodies: Annotated[
        bool,
        _says("Show owners what calls said in the record of calls, and not only which there were.", "true or false"),
    ] = True
    rate_limit_per_minute: Annotated[
        Count, _says("Requests a minute of one `bak_` key or OAuth token with one agent; 0 for as many as it likes.")
    ] = 600
    owner_rate_limit_per_minute: Annotated[Count, _says("The same of one owner key; 0 for as many as it likes.")] = 0
    agent_calls_limit: Annotated[
        Count, _says("Calls that one agent may have under way at once; 0 for as many as it takes.")
    ] = 0
    owner_calls_limit: Annotated[
        Count,
        _says("Calls of agents that all callers of one owner may have under way at once; 0 for as many as they like."),
    ] = 0
    sessions_limit: Annotated[
        Count,
        _says(
            "MCP sessions, used within their idle time, that one `bak_` key, or an owner's own keys and OAuth clients "
            "together, may have; 0 for as many as they like."
        ),
    ] = 0
    request_limit_bytes: Annotated[Bytes, _says("The largest request body taken from a caller.")] = 1024**2
    reply_limit_bytes: Annotated[Bytes, _says("The largest answer taken from an agent.")] = 32 * 1024**2
    session_idle_ttl_s: Annotated[Seconds, _says("After how long without a request an MCP session ends.")] = 86_400.0
    history_ttl_s: Annotated[
        Seconds, _says("How long a closed channel's messages and an ended call's record are kept.")
    ] = 86_400.0
    webhook_timeout_s: Annotated[
        Seconds, _says("How long the receiver of a webhook may take to answer one attempt.")
    ] = 10.0
    webhook_schedule_s: Annotated[
        tuple[Wait, ...],
        _says(
            "How long to wait after each failed attempt to tell a webhook; behind the last it is a dead letter.",
            "a list of numbers of seconds above 0",
        ),
    ] = (60.0, 300.0, 1800.0, 7200.0, 43_200.0)
    webhook_parallel: Annotated[
        int, _says("How many webhooks are told at once.", "a whole number from 1 to 1000", ge=1, le=1000)
    ] = 5
    webhook_allow_cidrs: Annotated[
        Networks,
        _says("Networks whose webhooks may be told although they are not public, over http and at any port, too."),
    ] = ()
    remote_allow_cidrs: Annotated[
        Networks,
        _says("Networks whose remote MCP servers may be added although they are not public, over http, too."),
    ] = ()
    remote_list_max_age_s: Annotated[
        float,
        _says(
            "How old the lists of a remote MCP server may be when they are used, if it does not tell of changes.",
            "a number of seconds from 0 to 3600",
            ge=0,
            le=3600,
        ),
    ] = 1.0
    compat_headers: Annotated[
        tuple[Literal["beeos"], ...],
        _says("Sets of headers under others' names that webhooks carry, too: `beeos`.", "a list of: beeos"),
    ] = ("beeos",)
    oauth_token_ttl_s: Annotated[Seconds, _says("How long an OAuth access token is good.")] = 3_600.0
    oauth_code_ttl_s: Annotated[
        Seconds, _says("How long a client may take to turn an OAuth authorization code into tokens.")
    ] = 120.0
    oauth_refresh_ttl_s: Annotated[
        Seconds, _says("How long an OAuth client that has not asked for a new token keeps its grant.")
    ] = 2_592_000.0
    delivery_lease_s: Annotated[
        Seconds, _says("How long a message belongs to the agent that took it, unless it renews.")
    ] = 30.0
    offline_after_s: Annotated[
        Seconds, _says("After how long without a sign an agent that polls counts as offline.")
    ] = 45.0
    sse_keepalive_s: Annotated[
        Seconds, _says("How often a silent event stream gets a comment, so that no proxy closes it.")
    ] = 15.0
    write_timeout_s: Annotated[
        Seconds, _says("How long a client may take nothing of its answer before its connection is given up.")
    ] = 60.0
    lenient_versions: Annotated[
        bool,
        _says(
            "Believe the body of a request that names 2026-07-28 under an `MCP-Protocol-Version` of an older one.",
            "true or false",
        ),
    ] = False
    fallback_tool: Annotated[
        bool, _says("Offer the tool `message` for an agent that registers no tool.", "true or false")
    ] = True


class Loaded(Struct, frozen=True):
    """A configuration and, for each key, where its value comes from: `default`, a file's line, a variable, a flag."""

    config: Config
    origins: dict[str, str]


class KeyInfo(Struct, frozen=True):
    """What is known of a key: its default, what it does, and what a value must be."""

    name: str
    default: Any
    description: str
    expected: str
    is_list: bool


class ConfigError(ValueError):
    """The configuration cannot be used; each of `problems` says where, what is there, and what is expected."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@cache
def keys() -> dict[str, KeyInfo]:
    """Every key there is, in the order of the reference."""
    hints = typing.get_type_hints(Config, include_extras=True)
    return {field.name: _key_info(field, hints[field.name]) for field in msgspec.structs.fields(Config)}


def load(
    file: Path | None = None, environ: Mapping[str, str] | None = None, flags: Mapping[str, object] | None = None
) -> Loaded:
    """Read all sources; of two that set a key the later wins: file, variables, flags.

    Args:
        file: the configuration file; `None` takes what `TOOLWIRE_CONFIG` names, else `toolwire.toml` in the current
            folder if there is one.
        environ: the environment's variables.
        flags: by key, what the command line gives; a `None` is no value.

    Raises:
        ConfigError: a file cannot be read, a key is unknown, or a value is not what its key expects. All problems are
            named at once.
    """
    problems: list[str] = []
    values: dict[str, Any] = {}
    origins = dict.fromkeys(keys(), "default")
    given = [_Given(name, raw, f"--{name}") for name, raw in (flags or {}).items() if raw is not None]
    for found in [*_from_file(file, environ or {}, problems), *_from_environ(environ or {}, problems), *given]:
        name = found.name
        try:
            values[name] = _checked(found)
        except ValueError:
            problems.append(f"{found.origin}: expected {keys()[name].expected} for {name}, got {found.raw!r}")
        origins[name] = found.origin
    if problems:
        raise ConfigError(problems)
    return Loaded(Config(**values), origins)


def variable_of(name: str) -> str:
    """The environment variable that sets a key."""
    return VARIABLE_PREFIX + name.upper()


class _Given(Struct, frozen=True):
    """A value as some source gives it. With `is_text` it came as text, which numbers are then read out of."""

    name: str
    raw: Any
    origin: str
    is_text: bool = False


def _from_file(file: Path | None, environ: Mapping[str, str], problems: list[str]) -> list[_Given]:
    named = file or (Path(environ["TOOLWIRE_CONFIG"]) if environ.get("TOOLWIRE_CONFIG") else None)
    path = named or Path(FILE_NAME)
    try:
        text = path.read_text("utf-8")
        parsed = tomllib.loads(text)
    except FileNotFoundError:
        if named is not None:
            problems.append(f"{path}: there is no such file; create it or name another one")
        return []
    except OSError as error:
        problems.append(f"{path}: cannot be read: {error.strerror}")
        return []
    except ValueError as error:  # not UTF-8, or not TOML: the text then says at which line
        problems.append(f"{path}: not TOML: {error}")
        return []
    found: list[_Given] = []
    for name, raw in parsed.items():
        origin = f"{path}, line {_line_of(name, text)}"
        if name in keys():
            found.append(_Given(name, raw, origin))
        else:
            problems.append(f"{origin}: unknown key {name!r}; {_suggestion(name, keys())}")
    return found


def _from_environ(environ: Mapping[str, str], problems: list[str]) -> list[_Given]:
    found: list[_Given] = []
    for variable, raw in sorted(environ.items()):
        if not variable.startswith(VARIABLE_PREFIX) or variable.removeprefix(VARIABLE_PREFIX) in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(VARIABLE_PREFIX).lower()
        info = keys().get(name)
        if info is None or variable != variable_of(name):
            known = {known.upper() for known in keys()} | OTHER_VARIABLES
            problems.append(f"{variable}: unknown variable; {_suggestion(name.upper(), known, VARIABLE_PREFIX)}")
        elif not raw and not info.is_list:
            continue  # set to nothing, which is how a shell or a compose file leaves a variable out
        elif info.is_list:
            words = [word.strip() for word in raw.split(",") if word.strip()]
            found.append(_Given(name, words, variable, is_text=True))
        else:
            found.append(_Given(name, raw, variable, is_text=True))
    return found


def _checked(given: _Given) -> Any:
    """The value for the key.

    Raises:
        ValueError: it is not what the key expects.
    """
    hint = typing.get_type_hints(Config, include_extras=True)[given.name]
    value: Any = msgspec.convert(given.raw, hint, strict=not given.is_text)
    if given.name.endswith("_allow_cidrs"):
        _check_networks(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError
    return _checked_url(value) if given.name == "public_url" and isinstance(value, str) else value


def _check_networks(cidrs: Iterable[str]) -> None:
    for cidr in cidrs:
        ip_network(cidr, strict=False)


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError
    return f"{parts.scheme}://{parts.netloc}"


def _key_info(field: msgspec.structs.FieldInfo, hint: Any) -> KeyInfo:
    metas = [note for note in hint.__metadata__ if isinstance(note, Meta)]
    extra: dict[str, Any] = {key: value for meta in metas for key, value in (meta.extra or {}).items()}
    description = next(meta.description for meta in metas if meta.description)
    return KeyInfo(field.name, field.default, description, extra["expected"], isinstance(field.default, tuple))


def _line_of(name: str, text: str) -> int:
    """The line in which a top-level key or table is set; 1 if it hides from this simple look."""
    found = re.search(rf"^\s*\[*\s*[\"']?{re.escape(name)}[\"']?\s*[.=\]]", text, re.MULTILINE)
    return 1 if found is None else text.count("\n", 0, found.end()) + 1


def _suggestion(name: str, known: Iterable[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {prefix + close[0]!r}?" if close else "`toolwire config explain` lists what there is"
