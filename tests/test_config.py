"""The settings as they are read: environment, file and defaults."""

from pathlib import Path

import pytest

from windlass.config import load
from windlass.core.errors import BadInput


@pytest.mark.parametrize(
    "address",
    [
        "https://api.z.ai/api/coding/paas/v4",
        "https://api.z.ai/api/paas/v4/",
        "https://open.bigmodel.cn/api/paas/v4",
        "https://API.Z.AI/v1",
        "http://127.0.0.1:9999/api/paas/v4",
    ],
)
def test_z_ai_in_the_environment_without_a_model_means_its_usual_one(tmp_path: Path, address: str) -> None:
    env = {"WINDLASS_HOME": str(tmp_path), "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": address}
    for unset in ({}, {"LLM_MODEL": ""}, {"LLM_MODEL": "  "}):
        [provider] = load(env={**env, **unset}).providers
        assert provider.model == "glm-4.7"
    [provider] = load(env={**env, "LLM_MODEL": "glm-4.6"}).providers
    assert provider.model == "glm-4.6"


@pytest.mark.parametrize("address", ["", "https://models.example/v1", "https://notapi.z.ai.example/v1"])
def test_other_addresses_get_no_model_that_nobody_named(tmp_path: Path, address: str) -> None:
    env = {"WINDLASS_HOME": str(tmp_path), "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": address}
    [provider] = load(env=env).providers
    assert provider.model == ""


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("mybox.local", "mybox.local"),
        (" MyBox.Local:9000 ", "mybox.local:9000"),
        ("https://chat.example.org/", "chat.example.org"),
        ("http://192.168.1.5:8420/ui/", "192.168.1.5:8420"),
        ("fd00::5", "[fd00::5]"),
        ("[FD00::5]:8420", "[fd00::5]:8420"),
        ("bücher.example", "xn--bcher-kva.example"),
    ],
)
def test_a_further_host_name_is_read_as_a_browser_sends_it(tmp_path: Path, given: str, meant: str) -> None:
    found = load(allow_hosts=[given], env={"WINDLASS_HOME": str(tmp_path)})
    assert found.allow_hosts == [meant]


@pytest.mark.parametrize(
    "given", ["", "*", "*.local", "my box", "a:b", "a/b", "me@box", "0.0.0.0", "[::]:8420", "a:99999"]
)
def test_what_is_no_host_name_ends_the_start(tmp_path: Path, given: str) -> None:
    (tmp_path / "windlass.toml").write_text(f'[server]\nallow_hosts = ["{given}"]\n')
    with pytest.raises(BadInput, match="allow_hosts") as refused:
        load(env={"WINDLASS_HOME": str(tmp_path)})
    assert "mybox.local" in refused.value.hint


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("https://chat.example.org/windlass", "https://chat.example.org/windlass"),
        (" HTTPS://Chat.Example.org:443/windlass/ ", "https://chat.example.org/windlass"),
        ("http://mybox.local:80", "http://mybox.local"),
        ("http://mybox.local:8080/", "http://mybox.local:8080"),
        ("https://[FD00::5]:8443/a/b", "https://[fd00::5]:8443/a/b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("", ""),
        (" ", ""),
    ],
)
def test_a_public_url_is_read_as_a_browser_sends_it(tmp_path: Path, given: str, meant: str) -> None:
    assert load(public_url=given, env={"WINDLASS_HOME": str(tmp_path)}).public_url == meant


@pytest.mark.parametrize(
    "given",
    [
        *(
            "chat.example.org",
            "ftp://x",
            "https://",
            "https://a b",
            "https://me:secret@x",
            "https://x/?a=1",
            "https://x/#a",
        ),
        *("https://0.0.0.0:8420", "https://x:99999", "https://x//a", 'https://x/"><b>', "https://x/a b", "https://*.x"),
    ],
)
def test_what_is_no_public_url_ends_the_start(tmp_path: Path, given: str) -> None:
    with pytest.raises(BadInput, match="public_url") as refused:
        load(env={"WINDLASS_HOME": str(tmp_path), "WINDLASS_PUBLIC_URL": given})
    assert "https://example.org/windlass" in refused.value.hint


def test_flag_environment_and_file_set_the_public_url_in_that_order(tmp_path: Path) -> None:
    (tmp_path / "windlass.toml").write_text('[server]\npublic_url = "https://file.example"\n')
    env = {"WINDLASS_HOME": str(tmp_path)}
    assert load(env=env).public_url == "https://file.example"
    env["WINDLASS_PUBLIC_URL"] = "https://env.example"
    assert load(env=env).public_url == "https://env.example"
    assert load(env=env, public_url="https://flag.example").public_url == "https://flag.example"


def test_proxies_are_addresses_or_networks_from_everywhere(tmp_path: Path) -> None:
    (tmp_path / "windlass.toml").write_text(
        '[server]\ntrusted_proxies = ["127.0.0.1", "172.18.0.9/16"]\nops_port = 9090\n'
    )
    env = {"WINDLASS_HOME": str(tmp_path), "WINDLASS_TRUSTED_PROXIES": "10.0.0.1, fd00::/8,"}
    found = load(env=env, trusted_proxies=["::1"])
    assert found.trusted_proxies == ["127.0.0.1/32", "172.18.0.0/16", "10.0.0.1/32", "fd00::/8", "::1/128"]
    assert found.ops_port == 9090
    for wrong in ("nginx", "10.0.0.1/99", "*"):
        with pytest.raises(BadInput, match="trusted_proxies"):
            load(env=env, trusted_proxies=[wrong])


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "windlass.toml").write_bytes(b"port = 1 \xff")
    with pytest.raises(BadInput, match=r"windlass\.toml is not UTF-8 text"):
        load(env={"WINDLASS_HOME": str(tmp_path)})


def test_a4_a_token_is_read_without_the_blanks_around_it(tmp_path: Path) -> None:
    """As `$(cat file)` or an env file leaves them; a request's header has none."""
    for given, meant in ((" a-token-of-my-own\n", "a-token-of-my-own"), ("  ", "")):
        assert load(env={"WINDLASS_HOME": str(tmp_path), "WINDLASS_TOKEN": given}).token == meant


def test_a_z_ai_key_is_used_at_a_z_ai_address_and_nowhere_else(tmp_path: Path) -> None:
    env = {"WINDLASS_HOME": str(tmp_path), "ZAI_API_KEY": "z"}
    [provider] = load(env={**env, "OPENAI_BASE_URL": "https://api.z.ai/api/coding/paas/v4"}).providers
    assert (provider.api_key, provider.model) == ("z", "glm-4.7")
    [provider] = load(env={**env, "OPENAI_BASE_URL": "https://models.example/v1"}).providers
    assert provider.api_key == ""
