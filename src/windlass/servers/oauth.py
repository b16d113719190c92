"""The requests of a sign-in: discovery, registration, the authorization code with PKCE, tokens and their renewal.
Imported late, with `sdk`.

The SDK's provider knows the protocol but holds a lock over every request it serves, so that calls to one server would
run one at a time. It is therefore used for signing in alone; `sign_in` puts the token into requests."""

import re
import time
from typing import Any
from urllib.parse import urljoin, urlsplit

from windlass.core.errors import Unavailable
from windlass.servers.sdk import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthToken,
    SignedJWTParameters,
    ValidationError,
    extract_field_from_www_auth,
    httpx2,
    types,
)
from windlass.servers.sign_in import (
    LONGEST_LIFE_S,
    AskPerson,
    Challenge,
    ClientUnknown,
    SignInCredentials,
    SignInNeeded,
)
from windlass.servers.sign_in_reach import may_reach
from windlass.servers.values import ServerConfig

REQUEST_S = 30.0
LONGEST = 1 << 20  # of an answer, in bytes
RENEW_AFTER = 0.9  # of a token's time
_ENDED = {"invalid_grant", "unsupported_grant_type", "invalid_request", "invalid_scope"}
_CLIENT_UNKNOWN = {"invalid_client", "unauthorized_client"}
_ANSWERED = re.compile(r"(?P<what>.*?\bfailed\b[^0-9]{0,3}\d{3}\b\)?)(?P<body>.*)")
_ERROR_CODE = re.compile(r'"error"\s*:\s*"([\w.-]{1,60})"')
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_BASIC, _POST, _NONE = "client_secret_basic", "client_secret_post", "none"  # how a client shows its secret
_PRIVATE_KEY = "-----BEGIN"
_JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_SECRET_METHODS = (_BASIC, _POST)


async def signed_in(
    config: ServerConfig, kept: SignInCredentials | None, redirect_uri: str, challenge: Challenge, ask: AskPerson
) -> SignInCredentials:
    """Raises `Unavailable` with the reason when it does not come to a token."""
    metadata = OAuthClientMetadata.model_validate(
        {
            "redirect_uris": [redirect_uri],
            "client_name": "Windlass",
            "grant_types": ["authorization_code", "refresh_token"],
            "application_type": "native" if urlsplit(redirect_uri).hostname in _LOOPBACK else "web",
            "scope": config.scopes or None,
        }
    )
    storage = _Storage(_known_client(config, kept, redirect_uri))
    return await _run(_OAuthFlow(config, metadata, storage, ask, _bound_to(config, kept)), config, challenge)


async def signed_in_as_client(
    config: ServerConfig, kept: SignInCredentials | None, challenge: Challenge
) -> SignInCredentials:
    """With the secret of the operator, without a person."""
    metadata = OAuthClientMetadata(redirect_uris=None, grant_types=["client_credentials"], scope=config.scopes or None)
    storage = _Storage(_known_client(config, kept, ""))
    return await _run(_OAuthFlow(config, metadata, storage, None, _bound_to(config, kept)), config, challenge)


async def renewed(kept: SignInCredentials) -> SignInCredentials:
    """Raises `SignInNeeded` when the grant has ended, and `Unavailable` when nobody can tell."""
    client = OAuthClientInformationFull.model_validate(dict(kept.client))
    form = {"grant_type": "refresh_token", "refresh_token": kept.refresh_token, "client_id": client.client_id}
    if kept.resource:
        form["resource"] = kept.resource
    headers = {"accept": "application/json"}
    auth = None
    if client.client_secret and client.token_endpoint_auth_method == _POST:
        form["client_secret"] = client.client_secret
    elif client.client_secret and client.token_endpoint_auth_method == _BASIC:
        auth = httpx2.BasicAuth(client.client_id, client.client_secret)
    async with _client() as http:
        request = http.build_request("POST", kept.token_endpoint, data=form, headers=headers)
        try:
            response = await _sent(http, request, auth)
        except httpx2.HTTPError as error:
            raise Unavailable(f"{request.url.host}: {str(error) or type(error).__name__}") from error
    if response.status_code != 200:
        raise _not_renewed(response)
    return _credentials(kept.url, _token(response), kept)


def _not_renewed(response: httpx2.Response) -> Unavailable:
    host, error = response.request.url.host, _error_in(response)
    if error in _CLIENT_UNKNOWN:
        return ClientUnknown(f"{host} no longer knows this client.")
    if response.status_code in (400, 401, 403) and error in _ENDED:
        return SignInNeeded(f"The sign-in at {host} has ended.")
    return Unavailable(f"{host} could not renew the sign-in (HTTP {response.status_code}).")


def _error_in(response: httpx2.Response) -> str:
    """The error code of a token answer; "" where it has none."""
    try:
        error = response.json().get("error")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return error if isinstance(error, str) else ""


class _Storage:
    """What the SDK's provider reads and writes. Tokens of an earlier sign-in are not among it: a person asked for a new
    one."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self.client = client
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class _OAuthFlow(OAuthClientProvider):
    """Without somebody to ask it gets a token with the client's own secret."""

    def __init__(
        self,
        config: ServerConfig,
        metadata: OAuthClientMetadata,
        storage: _Storage,
        ask: AskPerson | None,
        bound_to: str,
    ) -> None:
        self.storage = storage
        self.refused_with = ""  # the error code of the token request
        self._config = config
        self._bound_to = bound_to
        self._ask = ask
        self._address = ""
        self.named_issuers: list[str] = []  # in the metadata of authorization servers
        self._own_issuer = ""
        super().__init__(
            config.url,
            metadata,
            storage,
            self._open,
            self._answered,
            client_metadata_url=config.client_metadata_url or None,
        )

    async def _open(self, address: str) -> None:
        if not is_safe(address, self._config.url):
            raise OAuthFlowError("the address to sign in at is not https")
        self._address = address

    async def _answered(self) -> AuthorizationCodeResult:
        if self._ask is None:
            raise OAuthFlowError("nobody can be asked")
        answer = await self._ask(self._address)
        return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.issuer)

    def knows_own_issuer(self) -> bool:
        """Before there was resource metadata, a server was its own authorization server. One that names itself with a
        path, and not by its origin alone, is believed: nobody else answers at that origin."""
        if self._own_issuer or self.context.auth_server_url is not None:
            return False
        own = [issuer for issuer in self.named_issuers if _origin(issuer) == _origin(self._config.url)]
        self._own_issuer = own[0] if own else ""
        return bool(own)

    @property
    def issuer(self) -> str:
        return self._expected_issuer()

    @property
    def is_elsewhere(self) -> bool:
        """The server names another issuer than the one that the client belongs to."""
        return bool(self._bound_to) and self._bound_to.rstrip("/") != self.issuer.rstrip("/")

    def _expected_issuer(self) -> str:
        if self._own_issuer and self.context.auth_server_url is None:
            return self._own_issuer
        return super()._expected_issuer()

    async def _perform_authorization(self) -> httpx2.Request:
        client = self.context.client_info
        self._check_issuer()
        if client and client.client_secret and not client.token_endpoint_auth_method:
            client.token_endpoint_auth_method = self._secret_method()
        if self._ask is None:
            return await self._with_own_secret()
        return await super()._perform_authorization()

    def _check_issuer(self) -> None:
        config, wanted, named = self._config, self._config.issuer or self._bound_to, self.issuer
        if wanted and wanted.rstrip("/") != named.rstrip("/"):
            known_from = "the settings name" if config.issuer else "its client belongs to"
            raise OAuthFlowError(f"the server names {named}, and {known_from} {wanted}")
        if config.client_secret and self.context.oauth_metadata is None and _origin(named) != _origin(config.url):
            raise OAuthFlowError(f"{named} does not say where its tokens are")  # or the server itself would be asked

    def _secret_method(self) -> str:
        """How a client that was registered by hand shows its secret: the first way that is offered."""
        metadata = self.context.oauth_metadata
        offered = (metadata.token_endpoint_auth_methods_supported if metadata else None) or _SECRET_METHODS
        return next((method for method in _SECRET_METHODS if method in offered), _SECRET_METHODS[0])

    async def _with_own_secret(self) -> httpx2.Request:
        form: dict[str, str] = {"grant_type": "client_credentials"}
        headers: dict[str, str] = {}
        if self._config.client_secret.startswith(_PRIVATE_KEY):
            form |= await _assertion(self._config, self._expected_issuer())
        else:
            form, headers = self.context.prepare_token_auth(form, headers)
        if self.context.should_include_resource_param(self.context.protocol_version):
            form["resource"] = self.context.get_resource_url()
        if self.context.client_metadata.scope:
            form["scope"] = self.context.client_metadata.scope
        return httpx2.Request("POST", self.token_endpoint, data=form, headers=headers)

    @property
    def token_endpoint(self) -> str:
        metadata = self.context.oauth_metadata
        return str(metadata.token_endpoint) if metadata else urljoin(self.context.server_url, "/token")

    @property
    def resource(self) -> str:
        context = self.context
        return context.get_resource_url() if context.should_include_resource_param(context.protocol_version) else ""


async def _assertion(config: ServerConfig, issuer: str) -> dict[str, str]:
    """A statement of who we are, for one authorization server and a few minutes, signed with the client's key."""
    for algorithm in ("ES256", "RS256"):
        signer = SignedJWTParameters(
            issuer=config.client_id,
            subject=config.client_id,
            signing_key=config.client_secret,
            signing_algorithm=algorithm,
        )
        try:
            signed = await signer.create_assertion_provider()(issuer)
        except Exception:  # noqa: S112 - a key of another kind fails in its library's own ways, perhaps naming the key
            continue
        return {"client_assertion": signed, "client_assertion_type": _JWT_BEARER}
    raise OAuthFlowError("the private key in client_secret cannot be used; RSA and P-256 keys can")


async def _run(flow: _OAuthFlow, config: ServerConfig, challenge: Challenge) -> SignInCredentials:
    """The flow begins at an answer of the server that refuses: the one it gave before, or one that is asked for now."""
    host = urlsplit(config.url).hostname or ""
    try:
        async with _client() as http:
            first = _first_request(http, config.url)
            refusal = _refusal(first, config, challenge) or await _refused_now(http, first, config)
            try:
                await _drive(flow, first, refusal, http, config)
            except OAuthFlowError:
                if not flow.knows_own_issuer():
                    raise
                await _drive(flow, first, refusal, http, config)
    except httpx2.HTTPError as error:
        raise Unavailable(f"{host} could not be reached: {error or type(error).__name__}") from error
    except (OAuthFlowError, ValidationError, ValueError, OverflowError, RecursionError, ExceptionGroup) as error:
        if flow.refused_with in _CLIENT_UNKNOWN:
            raise ClientUnknown(f"{host} no longer knows this client.", hint="Sign in again.") from error
        raise Unavailable(f"Signing in to {host} failed: {_without_body(error)}", hint=_hint(flow)) from error
    client, tokens = flow.storage.client or flow.context.client_info, flow.storage.tokens
    if tokens is None or client is None:
        raise Unavailable(f"{host} gave no token.")
    if config.client_id:
        client = client.model_copy(update={"issuer": flow.issuer})
    described = client.model_dump(mode="json", exclude_none=True)
    found = SignInCredentials(config.url, token_endpoint=flow.token_endpoint, resource=flow.resource, client=described)
    return _credentials(config.url, tokens, found)


def _hint(flow: _OAuthFlow) -> str:
    if flow.is_elsewhere:
        return "If that is right, sign out of it and in again, or name it as the server's issuer."
    if flow.context.oauth_metadata is None:
        return "It offers no sign-in that Windlass knows. If it takes a key, add it as a header."
    return "Sign in again. If that does not help, set client_id to a client that is registered there."


async def _drive(
    flow: _OAuthFlow, first: httpx2.Request, refusal: httpx2.Response, http: httpx2.AsyncClient, config: ServerConfig
) -> None:
    """Until there are tokens: the request that was refused is not sent again here."""
    steps = flow.async_auth_flow(first)
    try:
        request = await anext(steps)
        response = refusal
        while flow.storage.tokens is None:
            request = await steps.asend(response)
            if request is first:
                return
            if not is_safe(str(request.url), config.url):
                raise OAuthFlowError(f"{request.url.host} is not reached over https")
            if not await may_reach(request.url.host, http, config):
                raise OAuthFlowError(f"{request.url.host} is not on the public internet, and this server is")
            response = await _sent(http, request)
            if _is_form(request) and response.is_error:
                flow.refused_with = _error_in(response)
            if request.method == "GET" and (issuer := _issuer_in(response)):
                flow.named_issuers.append(issuer)
    except StopAsyncIteration:
        return
    finally:
        await steps.aclose()


def _first_request(http: httpx2.AsyncClient, url: str) -> httpx2.Request:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": types.LATEST_PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "windlass", "version": "0.1"},
        },
    }
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": types.LATEST_PROTOCOL_VERSION,
    }
    return http.build_request("POST", url, json=body, headers=headers)


def _refusal(first: httpx2.Request, config: ServerConfig, challenge: Challenge) -> httpx2.Response | None:
    """The refusal that the server gave before, with the scopes that are wanted now."""
    if not challenge.header:
        return None
    header, scope = challenge.header, config.scopes or challenge.scope
    if scope:
        header = f'Bearer scope="{scope}"'
        before = httpx2.Response(401, headers={"www-authenticate": challenge.header})
        if metadata := extract_field_from_www_auth(before, "resource_metadata"):
            header += f', resource_metadata="{metadata}"'
    return httpx2.Response(401, headers={"www-authenticate": header}, request=first)


async def _refused_now(http: httpx2.AsyncClient, first: httpx2.Request, config: ServerConfig) -> httpx2.Response:
    response = await _sent(http, first)
    if response.status_code != 401:
        raise OAuthFlowError("it does not ask for a sign-in")
    found = Challenge(response.headers.get("www-authenticate", ""))
    return _refusal(first, config, found) or response


def _issuer_in(response: httpx2.Response) -> str:
    try:
        found = response.json()
    except (ValueError, RecursionError):
        return ""
    issuer = found.get("issuer") if isinstance(found, dict) else None
    return issuer if isinstance(issuer, str) else ""


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.lower()


def is_safe(address: str, server: str) -> bool:
    """Tokens and codes go over https; over plain http on this machine alone, and only for a server that is here."""
    parts, own = urlsplit(address), urlsplit(server)
    return parts.scheme == "https" or (
        parts.scheme == "http" and parts.hostname in _LOOPBACK and own.hostname in _LOOPBACK
    )


def _is_form(request: httpx2.Request) -> bool:
    """Of what is sent here, requests for a token alone are."""
    return request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")


def _bound_to(config: ServerConfig, kept: SignInCredentials | None) -> str:
    """The issuer that a client of one's own was used with: its secret goes to no other until a person signs out."""
    before = dict(kept.client) if kept else {}
    is_same = config.client_id and config.client_secret and before.get("client_id") == config.client_id
    return str(before.get("issuer") or "") if is_same else ""


def _known_client(
    config: ServerConfig, kept: SignInCredentials | None, redirect_uri: str
) -> OAuthClientInformationFull | None:
    """The client that was registered by hand, else the one of the last sign-in where it may be sent back to this
    address."""
    before = dict(kept.client) if kept else {}
    if config.client_id:
        fields: dict[str, Any] = {"client_id": config.client_id, "client_secret": config.client_secret or None}
        if not config.client_secret:
            fields["token_endpoint_auth_method"] = _NONE
        return OAuthClientInformationFull.model_validate(fields)
    if redirect_uri and redirect_uri in before.get("redirect_uris", ()):
        return OAuthClientInformationFull.model_validate(before)
    return None


def _credentials(url: str, token: OAuthToken, known: SignInCredentials) -> SignInCredentials:
    """A renewal may leave out what stays as it was."""
    now, life = time.time(), min(max(token.expires_in or 0, 0), LONGEST_LIFE_S)
    return SignInCredentials(
        url,
        token.access_token,
        token.refresh_token or known.refresh_token,
        now + life * RENEW_AFTER if life else 0,
        now + life if life else 0,
        token.scope or known.scope,
        known.token_endpoint,
        known.resource,
        known.client,
    )


def _token(response: httpx2.Response) -> OAuthToken:
    try:
        return OAuthToken.model_validate_json(response.content)
    except ValidationError:
        raise Unavailable(f"{response.request.url.host} answered with something that is no token.") from None


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=REQUEST_S, headers={"accept-encoding": "identity"}, follow_redirects=False)


async def _sent(http: httpx2.AsyncClient, request: httpx2.Request, auth: httpx2.Auth | None = None) -> httpx2.Response:
    """Read whole, and at most `LONGEST`: the other side is nobody's friend yet."""
    response = await http.send(request, stream=True, auth=auth)
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > LONGEST:
                raise Unavailable(f"{request.url.host} answered with more than {LONGEST >> 20} MiB.")
    finally:
        await response.aclose()
    whole = httpx2.Response(response.status_code, headers=response.headers, content=bytes(body), request=request)
    whole.next_request = response.next_request
    return whole


def _without_body(error: Exception) -> str:
    """The SDK puts the body of an answer into its error. That may hold a token, or repeat the secret it was sent."""
    line = _first_line(error.exceptions[0] if isinstance(error, ExceptionGroup) else error)
    if not (answered := _ANSWERED.match(line)):
        return line
    code = _ERROR_CODE.search(answered["body"])
    return answered["what"] + (f": {code[1]}" if code else "")


def _first_line(error: Exception) -> str:
    return (str(error).partition("\n")[0] or type(error).__name__)[:300]
