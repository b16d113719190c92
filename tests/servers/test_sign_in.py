"""Signing in to a remote server: asked for once, renewed once, kept over a restart."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.kit.authorized_server import Authority, authorized_server, follow
from tests.kit.waiting import PATIENCE_S, until
from tests.servers.kit import text_of
from windlass.core.errors import Conflict, ToolError, Unavailable
from windlass.servers import AuthorizationAnswer, ServerConfig, Servers, SignInCredentials
from windlass.servers.sign_in import CredentialsForNow

REDIRECT = "http://127.0.0.1:8420/oauth/callback"


def guarded(url: str, **more: Any) -> ServerConfig:
    return ServerConfig("srv-1", "guarded", transport="http", url=url, **more)


async def person(address: str) -> AuthorizationAnswer:
    found = await follow(address, REDIRECT)
    return AuthorizationAnswer(found["code"], found["state"], found.get("iss"))


async def started(servers: Servers, config: ServerConfig) -> str:
    await servers.put(config)
    servers.start(config.id)
    return (await servers.wait_ready(config.id, PATIENCE_S)).state


async def signed_in(servers: Servers, config: ServerConfig) -> None:
    assert await started(servers, config) == "needs_sign_in"
    await servers.sign_in("guarded", REDIRECT, person)
    assert (await servers.wait_ready("guarded", PATIENCE_S)).state == "running"


async def keep(servers: Servers, text: str) -> str:
    return text_of(await servers.call("guarded", "keep", f'{{"text": "{text}"}}'))


async def test_a_server_that_wants_a_sign_in_waits_for_a_person_and_is_not_tried_again(servers: Servers) -> None:
    async with authorized_server() as site:
        assert await started(servers, guarded(site.url)) == "needs_sign_in"
        status = servers.status("guarded")
        assert (status.reason, status.retry_at, status.starts) == ("127.0.0.1 asks for a sign-in.", 0, 1)
        asked = site.requests.total()
        with pytest.raises(ToolError) as caught:
            await keep(servers, "early")
        assert caught.value.code == "not_running" and site.requests.total() == asked


async def test_a_person_signs_in_once_and_calls_run(servers: Servers) -> None:
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        assert await keep(servers, "one") == "kept one" and site.calls == ["one"]
        assert site.requests["POST /register"] == site.requests["POST /token"] == 1
        assert servers.is_signed_in("guarded")


async def test_twenty_calls_that_find_the_token_expired_renew_it_once(servers: Servers) -> None:
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url, parallel=20))
        site.authority.expire_all()
        said = await asyncio.gather(*(keep(servers, f"t{number}") for number in range(20)))
        assert said == [f"kept t{number}" for number in range(20)]
        assert sorted(site.calls) == sorted(f"t{number}" for number in range(20))  # each ran once
        assert site.authority.redemptions == 1


async def test_a_cancelled_call_does_not_lose_the_token_that_it_was_renewing(servers: Servers) -> None:
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        site.authority.expire_all()
        call = asyncio.create_task(keep(servers, "cut"))
        await until(lambda: site.requests["POST /token"] == 2, "the renewal to be on its way")
        call.cancel()
        await asyncio.wait({call})
        assert await keep(servers, "next") == "kept next"
        assert site.authority.redemptions == 1


async def test_a_sign_in_outlives_a_restart_and_an_expired_token() -> None:
    store = CredentialsForNow()
    async with authorized_server() as site:
        before = Servers(credentials=store)
        await signed_in(before, guarded(site.url))
        await before.aclose()
        site.authority.expire_all()
        after = Servers(credentials=store)
        assert await started(after, guarded(site.url)) == "running"
        assert await keep(after, "later") == "kept later"
        await after.aclose()
        assert (site.requests["POST /register"], site.authority.redemptions) == (1, 1)
        assert site.requests["GET /authorize"] == 1


async def test_a_token_that_ends_soon_is_renewed_before_it_is_refused(servers: Servers) -> None:
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        kept = servers._credentials.get("srv-1")
        assert kept is not None
        servers._credentials.put("srv-1", replace(kept, renew_at=1.0))
        assert await keep(servers, "soon") == "kept soon"
        assert site.authority.redemptions == 1


async def test_a_grant_that_was_revoked_asks_for_a_sign_in_again(servers: Servers) -> None:
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        site.authority.revoke_all()
        with pytest.raises(ToolError) as caught:
            await keep(servers, "no")
        assert (caught.value.code, caught.value.sent, site.calls) == ("unauthorized", False, [])
        await until(lambda: servers.status("guarded").state == "needs_sign_in", "it to ask for a sign-in")
        assert site.requests["POST /token"] == 2  # the sign-in, and one try to renew
        await servers.sign_in("guarded", REDIRECT, person)
        assert (await servers.wait_ready("guarded", PATIENCE_S)).state == "running"
        assert await keep(servers, "yes") == "kept yes"
        assert site.requests["POST /register"] == 1  # it is still the same client


async def test_another_address_to_come_back_to_registers_anew(servers: Servers) -> None:
    other = "https://chat.example.org/windlass/oauth/callback"

    async def elsewhere(address: str) -> AuthorizationAnswer:
        found = await follow(address, other)
        return AuthorizationAnswer(found["code"], found["state"], found.get("iss"))

    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        await servers.sign_in("guarded", other, elsewhere)
        assert (await servers.wait_ready("guarded", PATIENCE_S)).state == "running"
        assert site.requests["POST /register"] == 2


async def test_tokens_do_not_follow_a_server_to_another_address(servers: Servers) -> None:
    async with authorized_server() as site, authorized_server() as other:
        await signed_in(servers, guarded(site.url))
        await servers.put(guarded(other.url))
        assert (await servers.wait_ready("guarded", PATIENCE_S)).state == "needs_sign_in"
        assert not servers.is_signed_in("guarded")


async def test_an_answer_with_another_state_gives_no_token(servers: Servers) -> None:
    async def mixed_up(address: str) -> AuthorizationAnswer:
        found = await follow(address, REDIRECT)
        return AuthorizationAnswer(found["code"], "of-somebody-else")

    async with authorized_server() as site:
        assert await started(servers, guarded(site.url)) == "needs_sign_in"
        with pytest.raises(Unavailable, match=r"Signing in to 127\.0\.0\.1 failed"):
            await servers.sign_in("guarded", REDIRECT, mixed_up)
        assert site.requests["POST /token"] == 0
        assert servers.status("guarded").state == "needs_sign_in"


async def test_signing_out_forgets_the_tokens(servers: Servers) -> None:
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        await servers.sign_out("guarded")
        assert not servers.is_signed_in("guarded")
        servers.start("guarded")
        assert (await servers.wait_ready("guarded", PATIENCE_S)).state == "needs_sign_in"


async def test_a_header_of_ones_own_wins_over_a_sign_in(servers: Servers) -> None:
    async with authorized_server() as site:
        assert await started(servers, guarded(site.url, headers={"Authorization": "Bearer mine"})) == "failed"
        assert "Check the server's headers" in servers.status("guarded").reason
        assert servers.status("guarded").retry_at == 0
        with pytest.raises(Conflict, match="no sign-in"):
            await servers.sign_in("guarded", REDIRECT, person)


async def test_while_the_authorization_server_is_away_nobody_is_signed_out(servers: Servers) -> None:
    authority = Authority()
    store = CredentialsForNow()
    away = Servers(credentials=store)
    async with authorized_server(authority) as site:
        await signed_in(away, guarded(site.url))
        port = int(site.url.split(":")[2].split("/")[0])
    kept = store.get("srv-1")
    assert kept is not None
    store.put("srv-1", replace(kept, renew_at=1.0, expires_at=1.0))
    with pytest.raises(ToolError) as caught:
        await keep(away, "nobody")
    assert (caught.value.code, caught.value.sent) == ("server_gone", False)
    await until(lambda: away.status("guarded").state == "failed", "it to be found away")
    assert away.is_signed_in("guarded")
    async with authorized_server(authority, port) as back:
        assert (await away.wait_ready("guarded", PATIENCE_S)).state == "running"
        assert await keep(away, "back") == "kept back" and back.calls == ["back"]
        await away.aclose()
    assert authority.redemptions == 1


async def test_a_renewal_that_fails_late_does_not_end_a_newer_sign_in(servers: Servers) -> None:
    """It was begun with the tokens of before; meanwhile a person has signed in again."""
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        site.authority.revoke_all()
        site.authority.renewals.clear()
        call = asyncio.create_task(keep(servers, "late"))
        await site.authority.renewing.wait()
        await servers.sign_in("guarded", REDIRECT, person)
        site.authority.renewals.set()
        await asyncio.wait({call})
        call.exception()
        assert (await servers.wait_ready("guarded", PATIENCE_S)).state == "running"
        assert servers.is_signed_in("guarded") and await keep(servers, "new") == "kept new"


async def test_signing_out_during_a_renewal_leaves_nothing_behind(servers: Servers) -> None:
    async with authorized_server() as site:
        await signed_in(servers, guarded(site.url))
        site.authority.expire_all()
        site.authority.renewals.clear()
        call = asyncio.create_task(keep(servers, "late"))
        await site.authority.renewing.wait()
        await servers.sign_out("guarded")
        site.authority.renewals.set()
        await asyncio.wait({call})
        call.exception()
        renewing = servers._lifecycle("guarded").sign_in._renewing
        assert renewing is not None
        await asyncio.wait({renewing})
        assert servers._credentials.get("srv-1") is None and not servers.is_signed_in("guarded")


async def test_a_sign_in_under_way_and_a_failed_one_are_shown(servers: Servers) -> None:
    async def refused(address: str) -> AuthorizationAnswer:
        attempt = servers.sign_in_attempt("guarded")
        assert attempt and (attempt.host, attempt.scopes, attempt.error) == ("127.0.0.1", ("a", "b"), "")
        raise Unavailable("127.0.0.1 refused: access_denied. Nothing was saved.")

    async with authorized_server() as site:
        assert await started(servers, guarded(site.url, scopes="a b")) == "needs_sign_in"
        with pytest.raises(Unavailable, match="access_denied"):
            await servers.sign_in("guarded", REDIRECT, refused)
        attempt = servers.sign_in_attempt("guarded")
        assert attempt and attempt.error == "127.0.0.1 refused: access_denied. Nothing was saved."
        await servers.sign_in("guarded", REDIRECT, person)
        assert servers.sign_in_attempt("guarded") is None


def test_what_is_printed_of_a_sign_in_holds_no_secret() -> None:
    printed = repr(SignInCredentials("http://a", "access-x", "refresh-x", client={"client_secret": "secret-x"}))
    printed += repr(AuthorizationAnswer("code-x", "state-x"))
    assert "-x" not in printed


async def test_a_token_in_an_odd_answer_stands_in_no_error(servers: Servers) -> None:
    """It fails, and holds tokens all the same."""
    async with authorized_server() as site:
        assert await started(servers, guarded(site.url)) == "needs_sign_in"
        site.authority.answers_with = 400
        with pytest.raises(Unavailable) as caught:
            await servers.sign_in("guarded", REDIRECT, person)
        assert "Token exchange failed (400)" in caught.value.message
        attempt = servers.sign_in_attempt("guarded")
        shown = f"{caught.value} {caught.value.hint} {attempt}"
        assert site.authority.secrets and not any(secret in shown for secret in site.authority.secrets)
