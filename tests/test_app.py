"""What the operator's file says reaches the part it is about."""

import asyncio
import json
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.providers.kit import raw_server
from windlass import app as app_module
from windlass.app import configured_providers, configured_secrets, configured_servers, open_app
from windlass.config import Config, load
from windlass.core.errors import BadInput
from windlass.providers import detect_local
from windlass.servers import SandboxRules

SETTINGS = """
[provider]
base_url = "https://models.example/v1"
model = "m"
ca_file = "/etc/ssl/our-own.pem"

[limits]
connect_s = 1
first_byte_s = 2
silence_s = 3
reply_s = 4
"""


def test_a_provider_gets_its_authority_and_its_deadlines(tmp_path: Path) -> None:
    (tmp_path / "windlass.toml").write_text(SETTINGS)
    [provider] = configured_providers(load(env={"WINDLASS_HOME": str(tmp_path)}))
    patience = provider.patience
    assert provider.ca_file == "/etc/ssl/our-own.pem"
    assert (patience.connect_s, patience.first_byte_s, patience.silence_s, patience.total_s) == (1, 2, 3, 4)


def test_a_server_gets_its_sandbox_and_the_times_of_its_tools(tmp_path: Path) -> None:
    (tmp_path / "windlass.toml").write_text(
        '[servers.files]\ncommand = "npx"\nsandbox = "bwrap"\ntimeout_s = 9\nprogress_s = 90\n'
        '[servers.files.inside]\nread = ["/docs"]\nwrite = ["/drafts"]\nnetwork = true\nkeep_home = true\n'
        "[servers.files.tools.slow]\ntimeout_s = 60\nretries = 2\n"
    )
    [server] = configured_servers(load(env={"WINDLASS_HOME": str(tmp_path)}))
    home = str(tmp_path / "sandboxes" / "files")
    assert (server.sandbox, server.sandbox_rules) == ("bwrap", SandboxRules(("/docs",), ("/drafts",), True, home))
    assert (server.timeout_of("slow"), server.timeout_of("quick"), server.retries_of("slow")) == (60, 9, 2)
    assert server.longest_s == 90


@pytest.mark.parametrize("place", ["[provider]", "[[providers]]", "environment"])
def test_an_address_with_a_password_in_it_is_refused_without_showing_it(tmp_path: Path, place: str) -> None:
    address = "https://me:hunter2@models.example/v1"
    env = {"WINDLASS_HOME": str(tmp_path)}
    if place == "environment":
        env["OPENAI_BASE_URL"] = address
    else:
        (tmp_path / "windlass.toml").write_text(f'# mine\n{place}\nmodel = "m"\nbase_url = "{address}"\n')
    with pytest.raises(BadInput) as refused:
        load(env=env)
    where = "OPENAI_BASE_URL" if place == "environment" else "windlass.toml, line 4"
    assert where in refused.value.message and "password" in refused.value.message
    assert "hunter2" not in refused.value.message + refused.value.hint and "api_key" in refused.value.hint


@pytest.mark.parametrize(
    "words", ['enabled = "read_*"', 'tools = "read_*"', 'enabled = "read_*"\n[servers.files.tools.a]']
)
def test_tools_are_enabled_by_either_word(tmp_path: Path, words: str) -> None:
    (tmp_path / "windlass.toml").write_text(f'[servers.files]\ncommand = "files"\n{words}\n')
    [server] = configured_servers(load(env={"WINDLASS_HOME": str(tmp_path)}))
    assert server.tools == "read_*"


@pytest.mark.parametrize(
    ("listed", "provider", "model"),
    [
        (["text-embedding-nomic-embed-text-v1.5", "qwen3-8b", "llama3"], "local", "qwen3-8b"),
        (["bge-m3:latest", "whisper-1", "bge-reranker", "llama3:latest"], "local", "llama3:latest"),
        (["nomic-embed-text"], "demo", "demo"),
    ],
)
async def test_of_a_local_server_the_first_model_that_chats_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: list[str], provider: str, model: str
) -> None:
    body = json.dumps({"data": [{"id": name} for name in listed]})

    async def serve(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    async with raw_server(serve) as base_url:
        port = urlsplit(base_url).port or 0
        monkeypatch.setattr(app_module, "detect_local", partial(detect_local, (port,)))
        async with open_app(Config(home=tmp_path)) as app:
            assert (app.models.config().id, app.models.config().model) == (provider, model)


def test_f5_every_secret_of_the_file_is_known_with_references_resolved(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("key-from-a-file\n")
    (tmp_path / "windlass.toml").write_text(f"""
[provider]
base_url = "https://models.example/v1"
api_key = "env:MODEL_KEY"
[web_search]
brave_key = "brave-key-1"
serper_key = "serper-key-1"
[servers.mail]
command = "mail"
env = {{ MAIL_PASSWORD = "file:{tmp_path}/key", FOLDER = "/home/ada/mail" }}
[servers.far]
url = "https://far.example/mcp"
headers = {{ Authorization = "Bearer far-token-1" }}
[servers.signed]
url = "https://signed.example/mcp"
client_secret = "client-secret-1"
""")
    config = load(env={"WINDLASS_HOME": str(tmp_path), "MODEL_KEY": "model-key-1", "WINDLASS_TOKEN": "t" * 20})
    assert {value for _, value in configured_secrets(config)} == {
        *(
            "t" * 20,
            "brave-key-1",
            "serper-key-1",
            "model-key-1",
            "key-from-a-file",
            "Bearer far-token-1",
            "far-token-1",
            "client-secret-1",
        ),
    }
