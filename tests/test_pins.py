"""The pins are complete, hashed, current and name no download address."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from benchmarks.peers.environments import PEERS

ROOT = Path(__file__).parent.parent
PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>\S+)", re.MULTILINE)


@pytest.mark.parametrize(
    "file",
    ["dev.txt", "run.txt", "servers.txt", "node.txt", *(f"peers/{spec.name}.txt" for spec in PEERS)],
)
def test_every_pin_has_a_hash_and_none_an_address(file: str) -> None:
    text = (ROOT / "requirements" / file).read_text()
    entries = re.split(r"\n(?=\S)", "\n".join(line for line in text.splitlines() if "#" not in line))
    unhashed = [entry for entry in entries if "--hash=sha256:" not in entry]
    assert not unhashed
    assert "://" not in text


@pytest.mark.parametrize(("file", "extras"), [("run.txt", []), ("dev.txt", ["dev"])])
def test_the_pins_satisfy_what_the_project_asks_for(file: str, extras: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    pins = pins_of(file)
    stale = [
        str(need)
        for need in map(Requirement, wanted)
        if not any(version in need.specifier for version in pins.get(canonicalize_name(need.name), ()))
    ]
    assert not stale, "run `make pins`"


def test_running_and_developing_use_the_same_versions() -> None:
    run, dev = pins_of("run.txt"), pins_of("dev.txt")
    assert {name: dev[name] for name in run} == run


@pytest.mark.parametrize("folder", ["ui", "tests/node", "tests/conformance", "tests/clients"])
def test_npm_locks_hold_hashes_and_no_download_address(folder: str) -> None:
    packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]
    del packages[""]
    assert packages
    assert not [name for name, package in packages.items() if "resolved" in package or "integrity" not in package]


@pytest.mark.parametrize("folder", ["ui", "tests/node", "tests/conformance", "tests/clients"])
def test_npm_locks_hold_the_builds_of_every_platform(folder: str) -> None:
    """npm leaves out what its registry lacks, and `npm ci` then refuses the lock on all machines."""
    packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]
    optional = {name for package in packages.values() for name in package.get("optionalDependencies", ())}
    assert not [name for name in optional if f"node_modules/{name}" not in packages]


def pins_of(file: str) -> dict[str, set[Version]]:
    pins: dict[str, set[Version]] = {}
    for name, version in PINNED.findall((ROOT / "requirements" / file).read_text()):
        pins.setdefault(canonicalize_name(name), set()).add(Version(version))
    return pins
