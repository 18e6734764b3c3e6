"""Where webhooks may go, and where they do go: the checked address (gateway.md 35, D26).

What a receiver is told is in tests/unit/gateway/test_webhooks.py.
"""

import datetime
import socket
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.tls import TLSStream
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from toolwire.adapters.clock import SystemClock
from toolwire.adapters.http_post import HttpPoster

LOCAL = ("127.0.0.0/8",)


class Names:
    """A resolver that says what the test has it say, one answer after the other."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not found:
            raise OSError(f"no address for {host}")
        return found


class Heard:
    def __init__(self, port: int) -> None:
        self.port = port
        self.heads: list[bytes] = []


@asynccontextmanager
async def listening(answer: bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n") -> AsyncGenerator[Heard]:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)
    heard = Heard(listener.extra(SocketAttribute.local_port))

    async def handle(stream: SocketStream) -> None:
        async with stream:
            heard.heads.append(await stream.receive())
            await stream.send(answer)

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, handle)
        yield heard
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/hook",
        "https://127.1.2.3:8443/hook",
        "https://10.0.0.1/hook",
        "https://172.16.0.1/hook",
        "https://192.168.1.1/hook",
        "https://100.64.0.1/hook",
        "https://169.254.169.254/latest/meta-data/",
        "https://0.0.0.0/hook",
        "https://224.0.0.1/hook",
        "https://255.255.255.255/hook",
        "https://[::1]/hook",
        "https://[::]/hook",
        "https://[::ffff:127.0.0.1]/hook",
        "https://[::ffff:169.254.169.254]/hook",
        "https://[64:ff9b::a9fe:a9fe]/hook",
        "https://[2002:7f00:1::]/hook",
        "https://[fc00::1]/hook",
        "https://[fe80::1]/hook",
        "https://[fd00:ec2::254]/hook",
        "https://2130706433/hook",
        "https://0x7f.1/hook",
        "https://127.1/hook",
        "https://localhost/hook",
        "http://93.184.215.14/hook",
        "https://93.184.215.14:22/hook",
        "https://user:secret@93.184.215.14/hook",
        "ftp://93.184.215.14/hook",
        "file:///etc/passwd",
        "gopher://93.184.215.14/",
        "//93.184.215.14/hook",
        "https://",
        "https:///hook",
        "https://93.184.215.14:0/hook",
        "https://a b/hook",
        "https://example.com\n/hook",
        "not a url",
        "https://93.184.215.14/" + "a" * 3000,
    ],
)
async def test_what_is_not_a_receiver_on_the_public_internet_is_neither_taken_nor_asked(url: str):
    poster = HttpPoster(SystemClock(), 1.0)
    assert await poster.check(url)
    posted = await poster.post(url, {}, b"{}")
    assert posted.blocked
    assert posted.error.startswith("blocked_address: ")
    assert posted.status is None


@pytest.mark.parametrize("url", ["https://93.184.215.14/hook", "https://93.184.215.14:8443/hook", "https://[2606::1]/"])
async def test_public_addresses_are_taken(url: str):
    assert await HttpPoster(SystemClock(), 1.0).check(url) is None


async def test_a_name_that_cannot_be_resolved_now_may_be_later_but_not_over_http():
    poster = HttpPoster(SystemClock(), 1.0, resolve=Names(()))
    assert await poster.check("https://hooks.example.com/") is None
    assert await poster.check("https://hooks.example.com:22/") is not None
    assert await poster.check("http://hooks.example.com/") is not None
    assert (await poster.post("https://hooks.example.com/", {}, b"{}")).error != ""


async def test_one_private_address_among_public_ones_is_one_too_many():
    poster = HttpPoster(SystemClock(), 1.0, resolve=Names(("93.184.215.14", "127.0.0.1")))
    assert await poster.check("https://hooks.example.com/") is not None


async def test_a_name_that_is_rebound_after_its_check_is_not_asked():
    async with listening() as heard:
        names = Names(("93.184.215.14",), ("127.0.0.1",))
        poster = HttpPoster(SystemClock(), 1.0, resolve=names)
        assert await poster.check("https://hooks.example.com:8443/") is None
        posted = await poster.post("https://hooks.example.com:8443/", {}, b"{}")
    assert posted.blocked
    assert heard.heads == []
    assert names.asked == ["hooks.example.com"] * 2


async def test_the_connection_goes_to_the_address_that_was_checked_and_the_name_is_asked_for_once():
    async with listening() as heard:
        names = Names(("127.0.0.1",), ("127.0.0.2",))
        poster = HttpPoster(SystemClock(), 5.0, LOCAL, resolve=names)
        posted = await poster.post(f"http://hooks.example.com:{heard.port}/a?b=c", {"x-a": "b"}, b"{}")
    assert posted.status == 200
    assert names.asked == ["hooks.example.com"]
    assert heard.heads[0].startswith(b"POST /a?b=c HTTP/1.1\r\n")
    assert f"host: hooks.example.com:{heard.port}\r\n".encode() in heard.heads[0].lower()


async def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch):
    async with listening() as heard, listening() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        posted = await HttpPoster(SystemClock(), 5.0, LOCAL).post(f"http://127.0.0.1:{heard.port}/", {}, b"{}")
    assert posted.received
    assert proxy.heads == []


async def test_a_redirect_is_an_answer_like_others():
    async with listening() as inner:
        target = f"location: http://127.0.0.1:{inner.port}/".encode()
        async with listening(b"HTTP/1.1 307 Temporary\r\n" + target + b"\r\ncontent-length: 0\r\n\r\n") as outer:
            posted = await HttpPoster(SystemClock(), 5.0, LOCAL).post(f"http://127.0.0.1:{outer.port}/", {}, b"{}")
    assert (posted.status, posted.received) == (307, False)
    assert inner.heads == []


@pytest.mark.parametrize(("value", "seconds"), [(b"120", 120.0), (b"-1", None), (b"soon", None), (b"9" * 20, None)])
async def test_what_the_receiver_says_of_a_later_time_is_read(value: bytes, seconds: float | None):
    async with listening(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after: " + value + b"\r\n\r\n") as heard:
        posted = await HttpPoster(SystemClock(), 5.0, LOCAL).post(f"http://127.0.0.1:{heard.port}/", {}, b"{}")
    assert posted.retry_after_s == seconds


def certificate(name: str) -> tuple[bytes, bytes]:
    """A certificate for a name, signed by itself, and its key; both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return built.public_bytes(serialization.Encoding.PEM), key.private_bytes(serialization.Encoding.PEM, *form)


async def test_over_tls_the_name_is_asked_for_and_proved_by_the_address_it_was_checked_to_have(tmp_path: Path):
    pem, key = certificate("hooks.example.com")
    (tmp_path / "cert.pem").write_bytes(pem + key)
    asked: list[str | None] = []
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(tmp_path / "cert.pem")
    serving.sni_callback = lambda sock, name, context: asked.append(name)
    trusting = ssl.create_default_context(cadata=pem.decode())

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)
    port = listener.extra(SocketAttribute.local_port)

    async def handle(stream: SocketStream) -> None:
        async with stream:
            try:
                secured = await TLSStream.wrap(stream, server_side=True, ssl_context=serving)
                await secured.receive()
                await secured.send(b"HTTP/1.1 204 No Content\r\n\r\n")
            except (ssl.SSLError, anyio.EndOfStream, anyio.BrokenResourceError):
                return

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, handle)
        poster = HttpPoster(SystemClock(), 5.0, LOCAL, trusting, Names(("127.0.0.1",)))
        posted = [await poster.post(f"https://{name}.example.com:{port}/", {}, b"{}") for name in ("hooks", "other")]
        good, other = posted
        assert good.status == 204
        assert (other.status, other.blocked) == (None, False)
        assert "certificate" in other.error.lower()
        tasks.cancel_scope.cancel()
    assert asked == ["hooks.example.com", "other.example.com"]


def test_a_setting_that_is_no_network_is_refused():
    with pytest.raises(ValueError, match="/33"):
        HttpPoster(SystemClock(), 1.0, ("127.0.0.0/33",))
