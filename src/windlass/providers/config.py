"""A provider as it is configured, and how to reach it: its address, the headers it wants, the proxy in between, and the
certificates to trust."""

import re
import ssl
from base64 import b64encode
from dataclasses import field
from urllib.request import getproxies_environment, proxy_bypass

from yarl import URL

from windlass.core.values import value_object
from windlass.providers.failures import BAD_URL, Patience, failure, shown

RESERVED_NAME = "windlass"  # `windlass/NAME` names a persona
_LOOPBACK = re.compile(r"localhost|127\.[\d.]+|::1|.*\.localhost")


@value_object
class ModelSetting:
    """What the operator knows of the models with such a name, a shell pattern; None leaves it to the server's list."""

    model: str = "*"
    images: bool | None = None
    audio: bool | None = None


@value_object
class ProviderConfig:
    id: str
    name: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    temperature: float | None = None
    profile: str = ""  # a profile's name, where the address and the model do not decide
    wire: str = "openai"  # one of `models.WIRES`
    ca_file: str = ""
    patience: Patience = field(default_factory=Patience)
    fallback: tuple[str, ...] = ()  # `provider/model`, asked in this order when this one cannot answer
    model_settings: tuple[ModelSetting, ...] = ()  # the first that fits and says something counts


@value_object
class ProviderEndpoint:
    """All that a request needs besides its body; worked out once, not at every request."""

    url: URL
    headers: dict[str, str]
    proxy: URL | None
    proxy_headers: dict[str, str]
    trust: ssl.SSLContext | bool


def endpoint_for(config: ProviderConfig, path: str) -> ProviderEndpoint:
    url = _url(config.base_url, path)
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
    if config.api_key:
        headers["Authorization"] = f"Bearer {config.api_key}"
    proxy, proxy_headers = proxy_for(url)
    if url.scheme == "http":  # no tunnel is opened, so the request itself must carry the proxy's headers
        headers, proxy_headers = headers | proxy_headers, {}
    return ProviderEndpoint(url, headers, proxy, proxy_headers, _trust(config.ca_file))


def proxy_for(url: URL) -> tuple[URL | None, dict[str, str]]:
    """The environment's proxy for an address and the headers it wants; never one for this machine."""
    host = url.host or ""
    found = getproxies_environment()
    address = found.get(url.scheme) or found.get("all")
    if not address or _LOOPBACK.fullmatch(host) or proxy_bypass(host):
        return None, {}
    proxy = URL(address if "//" in address else f"http://{address}")
    if not proxy.user:
        return proxy, {}
    credentials = b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
    return proxy.with_user(None), {"Proxy-Authorization": f"Basic {credentials}"}


def host_of(base_url: str) -> str:
    """As a person is told of it; "" where the address is none."""
    try:
        return URL(base_url).host_port_subcomponent or ""
    except ValueError:
        return ""


def _url(base_url: str, path: str) -> URL:
    try:
        url = URL(base_url.rstrip("/") + path)
    except ValueError as error:
        raise failure(BAD_URL, shown(str(error))) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise failure(BAD_URL, shown(base_url) or "it is empty")
    return url


def _trust(ca_file: str) -> ssl.SSLContext | bool:
    """The system's authorities (SSL_CERT_FILE counts), or an operator's own."""
    if not ca_file:
        return True
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise failure(BAD_URL, f"the CA file {ca_file} cannot be read: {error}") from error
