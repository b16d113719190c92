"""The environment of a server's program: a short list of our own variables, and those declared for it. Nothing else of
ours reaches a child, so no key of ours can leak through one."""

import os
from collections.abc import Mapping

from windlass.core.errors import BadInput

INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
# A network that is watched over needs these: where certificates lie, and proxies, unless a password is in them.
CERTIFICATES = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    "GIT_SSL_CAINFO",
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
_DENIED_PREFIXES = ("LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "NPM_CONFIG_", "PIP_")
_DENIED = frozenset(
    {
        *("BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "IFS", "GCONV_PATH"),
        *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE", "PYTHONBREAKPOINT"),
        *("NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE"),
        *("PERL5LIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT", "LUA_INIT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"),
        *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "SSH_ASKPASS", "EDITOR", "PAGER"),
    }
)
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


def environment(
    declared: Mapping[str, str], *, operator: bool, ours: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Raises `BadInput` for a variable that makes programs run other code, unless the operator's file declares it."""
    if not operator and (refused := denied(declared)):
        raise BadInput(
            f"env: {', '.join(refused)} can make a program run other code",
            hint="Declare it in windlass.toml if it is needed.",
            detail={"field": "env"},
        )
    ours = os.environ if ours is None else ours
    # A value that starts with "()" is an exported shell function.
    kept = {
        name: ours[name] for name in (*INHERITED, *CERTIFICATES) if name in ours and not ours[name].startswith("()")
    }
    proxies = {name: ours[name] for name in PROXIES if name in ours and "@" not in ours[name]}
    return {**kept, **proxies, **declared}


def denied(names: Mapping[str, str]) -> list[str]:
    return sorted(name for name in names if name.upper() in _DENIED or name.upper().startswith(_DENIED_PREFIXES))


def is_secret(name: str) -> bool:
    """Known by the end of its name. Any other variable may decide which code a program loads: no list of those is ever
    complete, so each counts as a part of the command."""
    return name.upper().rpartition("_")[2] in _SECRETS
