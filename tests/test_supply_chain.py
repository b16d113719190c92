"""What a person gets with the wheel: named in an SBOM, under licences we may pass on, from releases without known
holes."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import cyclonedx
import pytest
from jsonschema_rs import Draft7Validator, Registry
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
SCHEMAS = Path(cyclonedx.__file__).parent / "schema" / "_res"
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "PSF-2.0"),
    "OFL-1.1",  # the page's fonts
}
FIXED_IN = {  # the first release without the holes that were known in November 2026
    "aiohttp": ("3.14.3", "CVE-2026-69244, malformed responses stop a client"),
    "anyio": ("4.14.2", "CVE-2026-63349"),
    "click": ("8.3.3", "CVE-2026-7246, commands in an editor's name"),
    "cryptography": ("50.0.0", "CVE-2026-69247"),
    "lxml": ("6.1.2", "CVE-2026-49825, CVE-2026-41066"),
    "mcp": ("1.28.1", "CVE-2026-52869, CVE-2026-52870, CVE-2026-59950"),
    "pygments": ("2.20.0", "CVE-2026-4539"),
    "pyjwt": ("2.13.0", "CVE-2026-48526, forged tokens"),
    "python-multipart": ("0.0.31", "CVE-2026-53538 to CVE-2026-53540"),
    "starlette": ("1.3.1", "CVE-2026-48710, CVE-2026-54282, CVE-2026-54283"),
}


@pytest.fixture(scope="module")
def sbom(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("dist") / "windlass.cdx.json"
    argv = [sys.executable, "scripts/write-sbom", str(file)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    written: dict[str, Any] = json.loads(file.read_text())
    return written


def faults(sbom: dict[str, Any]) -> list[str]:
    texts = {file.name: json.loads(file.read_text()) for file in SCHEMAS.glob("*.json")}
    base = "http://cyclonedx.org/schema/"
    registry = Registry([(base + name, text) for name, text in texts.items()])
    validator = Draft7Validator(texts[f"bom-{sbom['specVersion']}.SNAPSHOT.schema.json"], registry=registry)
    return [error.message for error in validator.iter_errors(sbom)]


def test_f7_the_sbom_is_valid_cyclonedx(sbom: dict[str, Any]) -> None:
    assert faults(sbom) == []
    broken = {**sbom, "components": [{**sbom["components"][0], "type": "thing"}]}
    assert any("thing" in fault for fault in faults(broken))


def test_f7_the_sbom_names_every_package_that_comes_along(sbom: dict[str, Any]) -> None:
    pinned = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE)
    lock = json.loads((ROOT / "ui" / "package-lock.json").read_text())["packages"]
    page = {
        (path.rpartition("node_modules/")[2], package["version"])
        for path, package in lock.items()
        if path and not package.get("dev") and not package.get("devOptional")
    }
    assert ("react", lock["node_modules/react"]["version"]) in page and len(page) > 50
    named = {(one["name"], one["version"]) for one in sbom["components"]}
    assert named == page | set(pinned)
    about = sbom["metadata"]["component"]
    assert about["name"] == "windlass-server" and about["version"]
    needs = {one["ref"]: one.get("dependsOn", []) for one in sbom["dependencies"]}
    aiohttp, react = (next(ref for ref in needs if f":{name}@" in ref) for name in ("aiohttp", "react-dom"))
    assert {aiohttp, react} <= set(needs[about["bom-ref"]])
    assert any("yarl@" in ref for ref in needs[aiohttp]) and any("scheduler@" in ref for ref in needs[react])


def not_allowed(components: list[dict[str, Any]]) -> list[str]:
    """Both sides of an AND must be allowed, and one of an OR."""
    found = []
    for one in components:
        [licence] = one["licenses"]
        expression = licence.get("expression") or licence["license"]["id"]
        choices = [set(re.split(r"\s+AND\s+", part.strip("() "))) for part in re.split(r"\s+OR\s+", expression)]
        if not any(choice <= ALLOWED for choice in choices):
            found.append(f"{one['name']}: {expression}")
    return found


def test_f7_every_licence_may_be_passed_on(sbom: dict[str, Any]) -> None:
    assert not_allowed(sbom["components"]) == []


@pytest.mark.parametrize(
    ("expression", "refused"),
    [("GPL-3.0-only", True), ("MIT AND GPL-3.0-only", True), ("GPL-2.0-only OR MIT", False), ("", True)],
)
def test_f7_a_licence_that_is_not_on_the_list_is_found(expression: str, refused: bool) -> None:
    assert (
        bool(not_allowed([{"name": "x", "licenses": [{"expression": expression, "license": {"id": ""}}]}])) is refused
    )


def floors() -> dict[str, Version]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = [Requirement(text) for text in project["dependencies"]]
    return {
        canonicalize_name(need.name): max(Version(one.version) for one in need.specifier if one.operator == ">=")
        for need in needs
    }


def test_f7_no_floor_admits_a_release_with_a_known_hole() -> None:
    lowest = floors()
    assert [f"{name}: {why}" for name, (fixed, why) in FIXED_IN.items() if lowest[name] < Version(fixed)] == []


def test_f7_make_dist_writes_the_sbom_beside_the_wheel() -> None:
    recipe = subprocess.run(
        ["make", "--dry-run", "dist"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    lines = recipe.stdout.splitlines()
    assert [line for line in lines if "scripts/write-sbom dist/" in line and line.endswith(".cdx.json")]


def test_f7_there_is_a_way_to_report_a_hole() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    assert all(word in text for word in ("privately", "Supported versions", "What to include"))
    assert "SECURITY.md" in (ROOT / "README.md").read_text()
