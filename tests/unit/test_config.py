"""Where settings come from, which of two wins, and what is said of those that cannot be used."""

from pathlib import Path

import msgspec
import pytest

from toolwire import config
from toolwire.config import Config, ConfigError


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems_of(**sources: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.load(**sources)  # pyright: ignore[reportArgumentType] -- each test passes what load takes
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def test_without_any_source_every_value_is_the_contracts_default():
    """gateway.md 1J."""
    loaded = config.load()

    assert loaded.config == Config()
    assert set(loaded.origins.values()) == {"default"}
    assert loaded.config.call_timeout_s == 60
    assert loaded.config.keyed_deadline_s == 600
    assert loaded.config.idempotency_ttl_s == 24 * 3600
    assert (loaded.config.attachments_max, loaded.config.request_limit_bytes) == (16, 1024 * 1024)
    assert loaded.config.reply_limit_bytes == 32 * 1024 * 1024
    assert (loaded.config.session_idle_ttl_s, loaded.config.history_ttl_s) == (24 * 3600, 24 * 3600)
    assert (loaded.config.delivery_lease_s, loaded.config.offline_after_s, loaded.config.sse_keepalive_s) == (
        30,
        45,
        15,
    )
    assert (loaded.config.host, loaded.config.port, loaded.config.data) == ("127.0.0.1", 8094, ".toolwire")


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(tmp_path: Path):
    (tmp_path / "toolwire.toml").write_text('# ours\nport = 1\nhost = "::1"\ncall_timeout_s = 5\n')

    loaded = config.load(environ={"TOOLWIRE_PORT": "2", "TOOLWIRE_HOST": "0.0.0.0"}, flags={"port": 3, "host": None})

    assert (loaded.config.port, loaded.config.host, loaded.config.call_timeout_s) == (3, "0.0.0.0", 5.0)
    assert loaded.origins["port"] == "--port"
    assert loaded.origins["host"] == "TOOLWIRE_HOST"
    assert loaded.origins["call_timeout_s"] == "toolwire.toml, line 4"
    assert loaded.origins["data"] == "default"


def test_a_named_file_is_read_instead_of_the_one_in_the_folder(tmp_path: Path):
    (tmp_path / "toolwire.toml").write_text("port = 1\n")
    other = tmp_path / "other.toml"
    other.write_text("port = 2\n")

    assert config.load(file=other).config.port == 2
    assert config.load(environ={"TOOLWIRE_CONFIG": str(other)}).config.port == 2
    assert config.load().config.port == 1


@pytest.mark.parametrize(
    ("variable", "raw", "key", "value"),
    [
        ("TOOLWIRE_CALL_TIMEOUT_S", "0.5", "call_timeout_s", 0.5),
        ("TOOLWIRE_REQUEST_LIMIT_BYTES", "2048", "request_limit_bytes", 2048),
        ("TOOLWIRE_FALLBACK_TOOL", "false", "fallback_tool", False),
        ("TOOLWIRE_ALLOWED_HOSTS", "a.example, b.example:80,", "allowed_hosts", ("a.example", "b.example:80")),
        ("TOOLWIRE_ALLOWED_ORIGINS", "", "allowed_origins", ()),
        ("TOOLWIRE_WEBHOOK_SCHEDULE_S", "60, 1.5", "webhook_schedule_s", (60.0, 1.5)),
        ("TOOLWIRE_WEBHOOK_ALLOW_CIDRS", "10.0.0.0/8,::1", "webhook_allow_cidrs", ("10.0.0.0/8", "::1")),
        ("TOOLWIRE_COMPAT_HEADERS", "", "compat_headers", ()),
        ("TOOLWIRE_PUBLIC_URL", "https://tools.example.com/", "public_url", "https://tools.example.com"),
        ("TOOLWIRE_PUBLIC_URL", "", "public_url", None),
        ("TOOLWIRE_PORT", "", "port", 8094),
    ],
)
def test_a_variable_holds_text_that_is_read_as_its_key_expects(variable: str, raw: str, key: str, value: object):
    assert getattr(config.load(environ={variable: raw}).config, key) == value


@pytest.mark.parametrize(
    "variable",
    [
        {"TOOLWIRE_WEBHOOK_SCHEDULE_S": "60,0"},
        {"TOOLWIRE_WEBHOOK_SCHEDULE_S": "soon"},
        {"TOOLWIRE_WEBHOOK_ALLOW_CIDRS": "10.0.0.0/33"},
        {"TOOLWIRE_COMPAT_HEADERS": "stripe"},
    ],
)
def test_a_list_with_something_else_in_it_is_refused(variable: dict[str, str]):
    with pytest.raises(config.ConfigError):
        config.load(environ=variable)


def test_variables_of_other_programs_and_those_of_the_command_line_are_let_through():
    others = {
        "PATH": "/bin",
        "TOOLWIRE_URL": "u",
        "TOOLWIRE_KEY": "k",
        "TOOLWIRE_AGENT_KEY": "a",
        "TOOLWIRE_DEBUG": "1",
    }
    assert config.load(environ=others).config == Config()


def test_an_unknown_key_is_refused_with_its_line_and_the_nearest_known_one(tmp_path: Path):
    (tmp_path / "toolwire.toml").write_text("port = 1\n\ncall_timeout = 5\n\n[colours]\nx = 1\n")

    assert problems_of() == [
        "toolwire.toml, line 3: unknown key 'call_timeout'; did you mean 'call_timeout_s'?",
        "toolwire.toml, line 5: unknown key 'colours'; `toolwire config explain` lists what there is",
    ]


def test_an_unknown_variable_is_refused_with_the_nearest_known_one():
    assert problems_of(environ={"TOOLWIRE_CALL_TIMEOUT": "5", "TOOLWIRE_X": "5", "TOOLWIRE_port": "5"}) == [
        "TOOLWIRE_CALL_TIMEOUT: unknown variable; did you mean 'TOOLWIRE_CALL_TIMEOUT_S'?",
        "TOOLWIRE_X: unknown variable; `toolwire config explain` lists what there is",
        "TOOLWIRE_port: unknown variable; did you mean 'TOOLWIRE_PORT'?",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('port = "80"', "expected a port number from 0 to 65535 for port, got '80'"),
        ("port = 65536", "expected a port number from 0 to 65535 for port, got 65536"),
        ('call_timeout_s = "60s"', "expected a number of seconds above 0 for call_timeout_s, got '60s'"),
        ("call_timeout_s = 0", "expected a number of seconds above 0 for call_timeout_s, got 0"),
        ("call_timeout_s = nan", "expected a number of seconds above 0 for call_timeout_s, got nan"),
        ("call_timeout_s = inf", "expected a number of seconds above 0 for call_timeout_s, got inf"),
        ("request_limit_bytes = 1", "expected a whole number of bytes, 1024 at least for request_limit_bytes, got 1"),
        ("fallback_tool = 1", "expected true or false for fallback_tool, got 1"),
        ('data = ""', "expected a path for data, got ''"),
        (
            'public_url = "tools.example.com"',
            "expected a URL such as https://tools.example.com, without a path for public_url, got 'tools.example.com'",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_line_and_what_is_expected(tmp_path: Path, line: str, problem: str):
    (tmp_path / "toolwire.toml").write_text(f"\n{line}\n")

    assert problems_of() == [f"toolwire.toml, line 2: {problem}"]


@pytest.mark.parametrize("url", ["ftp://a.example", "https://a.example/path", "https://u:p@a.example", "https://a/?q"])
def test_a_public_url_is_a_place_and_nothing_more(url: str):
    assert len(problems_of(environ={"TOOLWIRE_PUBLIC_URL": url})) == 1


def test_all_problems_are_named_at_once(tmp_path: Path):
    (tmp_path / "toolwire.toml").write_text("prot = 1\nport = -1\n")

    assert len(problems_of(environ={"TOOLWIRE_HSOT": "x"}, flags={"call_timeout_s": -1})) == 4


def test_a_file_that_is_not_toml_is_named_with_the_line(tmp_path: Path):
    (tmp_path / "toolwire.toml").write_text("port = 1\nhost =\n")

    (problem,) = problems_of()
    assert problem.startswith("toolwire.toml: not TOML: ")
    assert "line 2" in problem


def test_a_named_file_must_be_there_and_readable(tmp_path: Path):
    assert problems_of(file=Path("gone.toml")) == ["gone.toml: there is no such file; create it or name another one"]
    assert problems_of(file=tmp_path) == [f"{tmp_path}: cannot be read: Is a directory"]


def test_every_key_has_a_description_an_expectation_and_a_variable():
    assert list(config.keys()) == [field.name for field in msgspec.structs.fields(Config)]
    for name, info in config.keys().items():
        assert info.description.endswith(".")
        assert info.expected
        assert config.variable_of(name) == f"TOOLWIRE_{name.upper()}"
