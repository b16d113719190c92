"""What a child sees of our environment, and what a stranger's config may not put there."""

import pytest

from windlass.core.errors import BadInput
from windlass.servers.environment import INHERITED, denied, environment, is_secret

OURS = {"PATH": "/bin", "HOME": "/h", "LANG": "C", "OPENAI_API_KEY": "sk", "WINDLASS_TOKEN": "t", "SHELL": "() { :; }"}


def test_only_the_short_list_and_the_declared_reach_a_child() -> None:
    assert environment({"A": "1", "PATH": "/usr/bin"}, operator=False, ours=OURS) == {
        "PATH": "/usr/bin",
        "HOME": "/h",
        "LANG": "C",
        "A": "1",
    }


def test_certificates_and_proxies_reach_a_child_unless_a_password_is_in_them() -> None:
    network = {"SSL_CERT_FILE": "/etc/ca.pem", "HTTPS_PROXY": "http://proxy:3128", "no_proxy": "localhost"}
    assert environment({}, operator=False, ours={**network, "HTTP_PROXY": "http://me:word@proxy:3128"}) == network


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "ld_preload", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "PYTHONSTARTUP"),
        *("NODE_OPTIONS", "BASH_ENV", "ENV", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND"),
        *("BASH_FUNC_x%%", "npm_config_registry", "PIP_INDEX_URL", "GIT_CONFIG_COUNT"),
    ],
)
def test_what_makes_programs_run_other_code_needs_the_operator(name: str) -> None:
    assert denied({name: "x"}) == [name]
    with pytest.raises(BadInput, match="run other code"):
        environment({name: "x"}, operator=False, ours={})
    assert environment({name: "x"}, operator=True, ours={}) == {name: "x"}


def test_nothing_on_the_short_list_is_dangerous() -> None:
    assert denied(dict.fromkeys(INHERITED, "")) == []


@pytest.mark.parametrize("name", ["A_KEY", "a_token", "My_Secret", "DB_PASSWORD", "KEY", "token", "SECRET", "Password"])
def test_b4_a_secret_is_known_by_the_end_of_its_name(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["MONKEY", "TOKENS", "KEY_FILE", "SECRET_PATH", "PGPASSWORD", "CLASSPATH", "PATH"])
def test_b4_every_other_name_is_none(name: str) -> None:
    assert not is_secret(name)


def test_b4_nothing_on_the_short_list_is_a_secret() -> None:
    assert not any(map(is_secret, INHERITED))
