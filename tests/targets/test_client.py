"""How every target that speaks HTTP treats connections, statuses, keys and addresses."""

import asyncio
import gzip
import socket
import ssl
from email.utils import formatdate
from pathlib import Path

import pytest

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.client import retry_after_s
from evalcase.targets.http import HttpTarget
from evalcase.targets.web import find_proxy
from tests.for_each import for_each
from tests.targets.questions import LIMIT_S, ask, question, target_of
from tests.targets.server import Reply, serving


def failure(target: HttpTarget) -> TargetError:
    with pytest.raises(TargetError) as caught:
        ask(target)
    return caught.value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


# Connections.


def test_a_refused_connection_may_succeed_later() -> None:
    error = failure(target_of(HttpTarget, url=f"http://127.0.0.1:{free_port()}/a?who=hidden"))
    assert (error.kind, error.may_succeed_later, error.overloaded) == ("connection", True, False)
    assert "/a: can't connect: " in str(error)
    assert "hidden" not in str(error)


@for_each(
    "reply",
    [
        Reply(b"x" * 100, cut=10),
        Reply(raw=b""),
        Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le"),
    ],
)
def test_closed_in_the_middle_is_a_connection_error(reply: Reply) -> None:
    with serving(reply) as server:
        error = failure(target_of(HttpTarget, url=server.url))
    assert (error.kind, error.may_succeed_later) == ("connection", True)
    assert len(server.requests) == 1


def test_what_is_not_http_is_a_protocol_error() -> None:
    with serving(Reply(raw=b"SSH-2.0-OpenSSH_9.6\r\n\r\n")) as server:
        error = failure(target_of(HttpTarget, url=server.url))
    assert (error.kind, error.may_succeed_later) == ("protocol", False)
    assert "the answer is not HTTP" in str(error)


def test_a_connection_that_is_never_made_has_a_limit_of_its_own() -> None:
    """A full queue of connections: the kernel answers none of those that follow."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        try:
            for each in waiting:
                each.setblocking(False)
                each.connect_ex(("127.0.0.1", port))
            error = failure(
                target_of(HttpTarget, url=f"http://127.0.0.1:{port}", connect_timeout_s=0.2)
            )
        finally:
            for each in waiting:
                each.close()
    assert (error.kind, error.may_succeed_later) == ("connection", True)
    assert "no connection within 0.2 s" in str(error)


def test_cancelling_closes_the_connection() -> None:
    async def run() -> None:
        target = target_of(HttpTarget, url=server.url)
        await target.open()
        try:
            asked = asyncio.ensure_future(target.answer(question()))
            await asyncio.to_thread(server.asked.wait, LIMIT_S)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert await asyncio.to_thread(server.hung_up.wait, LIMIT_S)
        finally:
            await target.close()

    with serving(Reply(b"x" * 100, cut=10, hold=True)) as server:
        asyncio.run(run())


def test_answers_are_not_compressed() -> None:
    """Half of a gzip file is a whole answer to aiohttp."""
    packed = Reply(gzip.compress(b"ok"), 200, {"Content-Encoding": "gzip"})
    with serving(packed, Reply(b"ok", 200, {"Content-Encoding": "identity"})) as server:
        error = failure(target_of(HttpTarget, url=server.url))
        assert ask(target_of(HttpTarget, url=server.url)).text == "ok"
    assert server.requests[0].headers["accept-encoding"] == "identity"
    assert (error.kind, error.may_succeed_later) == ("protocol", False)
    assert "its Content-Encoding is `gzip`, and none was asked for" in str(error)


# Statuses.


@for_each("status", [206, 400, 401, 403, 404, 409, 413, 422])
def test_what_is_wrong_with_the_request_is_not_tried_again(status: int) -> None:
    with serving(Reply.of({"error": {"message": "No\n such model."}}, status)) as server:
        error = failure(target_of(HttpTarget, url=server.url))
    assert (error.kind, error.may_succeed_later, error.overloaded) == ("http", False, False)
    assert str(error).startswith(f"HTTP {status} (")
    assert ": No such model., from http://127.0.0.1:" in str(error)
    assert error.details["status"] == status
    assert "No\\n such" in error.details["body"]


@for_each(
    ("status", "overloaded"), [(408, False), (429, True), (500, False), (503, False), (529, True)]
)
def test_what_may_succeed_later_says_so(status: int, overloaded: bool) -> None:
    with serving(Reply(b"<html>", status)) as server:
        error = failure(target_of(HttpTarget, url=server.url))
    assert (error.may_succeed_later, error.overloaded) == (True, overloaded)
    assert error.details == {"status": status, "body": "<html>"}


NOW_S = 1_700_000_000.0


@for_each(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": formatdate(NOW_S + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW_S - 30, usegmt=True)}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 99 Foo"}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after_s(headers, NOW_S) == wait_s


# Redirects and keys.


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "hunter2")
    with serving(Reply(b"stolen")) as second:
        location = {"Location": f"{second.url}/b?secret=1"}
        with serving(Reply(b"", status, location)) as first:
            error = failure(target_of(HttpTarget, url=first.url + "/a", key_env="MY_KEY"))
    assert second.requests == []
    assert second.connections == 0
    assert f"/a points to {second.url}/b; redirects are not followed" in str(error)
    assert "redirects are not followed" in str(error)
    assert "secret" not in str(error) + str(error.details)
    assert (error.kind, error.may_succeed_later) == ("http", False)


def test_keys_and_headers_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k1")
    monkeypatch.setenv("OTHER", "k2")
    with serving(Reply(b"ok")) as server:
        target = target_of(
            HttpTarget, url=server.url, key_env="MY_KEY",
            headers={"X-Plain": "p", "content-type": "a/b"}, header_env={"X-Other": "OTHER"},
        )  # fmt: skip
        ask(target)
    sent = server.request.headers
    assert (sent["authorization"], sent["x-other"], sent["x-plain"]) == ("Bearer k1", "k2", "p")
    assert sent["content-type"] == "a/b"
    assert target.traits.key_names == ("OTHER", "MY_KEY")


@pytest.mark.parametrize(("value", "what"), [(None, "not set"), ("", "empty")])
def test_a_missing_key_is_named(
    value: str | None, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(ConfigError) as caught:
        ask(target_of(HttpTarget, url="http://127.0.0.1:1", key_env="MY_KEY"))
    hint = "export it, or name a file that has it with --env-file"
    assert str(caught.value) == f"http target: the environment variable MY_KEY is {what}: {hint}"


@pytest.mark.parametrize("value", ["hunter2\n", " hunter2", "hunter2\r\nX: y", "hunter2é", "\x7f"])
def test_a_key_that_cannot_be_sent_is_not_shown(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", value)
    for options in ({"key_env": "MY_KEY"}, {"header_env": {"X-Key": "MY_KEY"}}):
        with pytest.raises(ConfigError, match="MY_KEY can't be sent: it holds") as caught:
            ask(target_of(HttpTarget, url="http://127.0.0.1:1", **options))
        assert "hunter2" not in str(caught.value)


def test_netrc_is_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("default login me password hunter2\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with serving(Reply(b"ok")) as server:
        ask(target_of(HttpTarget, url=server.url))
    assert "authorization" not in server.request.headers


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Reply(b"by proxy")) as proxy, serving(Reply(b"directly")) as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert ask(target_of(HttpTarget, url=server.url + "/a")).text == "by proxy"
        assert proxy.request.path == server.url + "/a"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert ask(target_of(HttpTarget, url=server.url)).text == "directly"


PROXY = "http://proxy:3128"


@for_each(
    ("url", "environment", "found"),
    [
        ("http://a.example", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://a.example", {"http_proxy": "proxy:3128"}, PROXY),
        ("http://a.example", {"ALL_PROXY": PROXY}, PROXY),
        ("https://a.example", {"HTTP_PROXY": PROXY}, None),
        ("https://a.example", {"HTTPS_PROXY": PROXY}, PROXY),
        ("http://a.example", {"HTTP_PROXY": PROXY, "NO_PROXY": "b.example, .example"}, None),
        ("http://a.example:81", {"HTTP_PROXY": PROXY, "NO_PROXY": "a.example:80"}, PROXY),
        ("http://a.example:81", {"HTTP_PROXY": PROXY, "no_proxy": "A.example:81"}, None),
        ("http://xa.example", {"HTTP_PROXY": PROXY, "NO_PROXY": "a.example"}, PROXY),
        ("http://a.example", {"HTTP_PROXY": PROXY, "NO_PROXY": "*"}, None),
        ("http://[::1]:81", {"HTTP_PROXY": PROXY, "NO_PROXY": "[::1]"}, None),
        ("http://a.example", {"HTTP_PROXY": "HTTP://proxy:3128"}, "HTTP://proxy:3128"),
    ],
)
def test_the_proxy_for_an_address(url: str, environment: dict[str, str], found: str | None) -> None:
    assert find_proxy(url, environment) == found


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_authorities_of_the_environment_are_trusted_and_no_others(
    name: str, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(each, raising=False)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificates / "certificate.pem", certificates / "key.pem")
    with serving(Reply(b"ok"), tls=tls) as server:
        url = server.url.replace("http:", "https:")
        error = failure(target_of(HttpTarget, url=url))
        assert (error.kind, error.may_succeed_later) == ("connection", False)
        assert "its certificate is not trusted" in str(error)
        assert server.requests == []
        monkeypatch.setenv(name, str(certificates / "certificate.pem"))
        assert ask(target_of(HttpTarget, url=url)).text == "ok"


# Addresses.


@for_each(
    "host",
    [
        "169.254.169.254", "169.254.0.1:8080", "[fe80::1]", "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "2852039166", "0xa9fea9fe",
        "100.100.100.200", "168.63.129.16", "[fd20:ce::254]", "[::ffff:100.100.100.200]",
        "metadata.google.internal", "METADATA.google.internal.",
    ],
)  # fmt: skip
def test_metadata_addresses_are_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="allow_link_local = true"):
        asyncio.run(target_of(HttpTarget, url=f"http://{host}/latest").open())


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Make every name lead to some addresses."""

    def look_up(host: str, port: int, *more: object) -> list[object]:
        del host, more
        return [(socket.AF_INET, 1, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def test_a_name_that_leads_to_a_refused_address_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(Reply(b"ok")) as server:
        resolve_to(monkeypatch, "127.0.0.1", "169.254.169.254")
        url = f"http://host.example:{server.port}"
        error = failure(target_of(HttpTarget, url=url))
        assert "host.example leads to 169.254.169.254, a link-local or metadata" in str(error)
        assert (error.kind, error.may_succeed_later) == ("connection", False)
        assert server.connections == 0
        resolve_to(monkeypatch, "127.0.0.1")
        assert ask(target_of(HttpTarget, url=url)).text == "ok"
        resolve_to(monkeypatch, "127.0.0.2", "127.0.0.1")
        assert ask(target_of(HttpTarget, url=url)).text == "ok"
