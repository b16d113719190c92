"""The wheel, installed where nothing else of ours is and no Node: it starts, shows its page and completes a turn."""

import gzip
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.waiting import wait_for

ROOT = Path(__file__).parent.parent
TEXT = {"", ".html", ".json", ".md", ".py", ".toml", ".ts", ".tsx", ".txt"}
PAGE = ROOT / "src" / "windlass" / "web" / "static" / "index.html"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PAGE.exists(), reason="the page is not built: `make setup` with Node builds it"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    argv = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=60)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installed into an environment of its own. The libraries it depends on are borrowed, so that no network is needed;
    our own editable install is not among them, since a borrowed folder's path files are not read."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    [site] = folder.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    argv = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    return folder / "bin" / "windlass"


@pytest.fixture
def served(program: Path, tmp_path: Path) -> Iterator[str]:
    env = {"PATH": "/nowhere", "HOME": str(tmp_path), "WINDLASS_HOME": str(tmp_path / "home")}
    process = subprocess.Popen(
        [program, "demo", "--port", "0", "--no-auth"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    yield process.stdout.readline().split()[-1].rstrip("/")
    process.terminate()
    assert process.wait(20) == 0
    process.stdout.close()


def test_the_wheel_has_the_page_the_sample_and_the_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    needed = {"web/static/index.html", "demo/sample/docs/README.md", "py.typed", "cli/program.py"}
    assert {f"windlass/{name}" for name in needed} <= names
    assert not [name for name in names if name.startswith("tests/") or "node_modules" in name]


def test_the_wheel_has_packed_forms_of_the_pages_scripts_and_styles(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        assets = [one for one in packed.infolist() if one.filename.startswith("windlass/web/static/assets/")]
        names = {one.filename for one in assets}
        large = [one for one in assets if one.filename.endswith((".js", ".css")) and one.file_size >= 1024]
        bodies = {one.filename: packed.read(one.filename) for one in large}
        unpacked = {name: gzip.decompress(packed.read(f"{name}.gz")) for name in bodies}
    assert len(large) > 5 and unpacked == bodies
    assert {f"{name}.br" for name in bodies} <= names


def test_it_is_installed_by_its_own_name_and_brings_both_commands(wheel: Path, program: Path) -> None:
    """Another project holds `windlass` where packages come from; `uvx windlass-server` needs a command of that name."""
    assert wheel.name.startswith("windlass_server-")
    shown = {
        name: subprocess.run([program.with_name(name), "--version"], capture_output=True, text=True, timeout=60).stdout
        for name in ("windlass", "windlass-server")
    }
    assert shown["windlass-server"] == shown["windlass"] != ""


def test_nothing_tells_a_person_to_install_the_project_of_the_same_name() -> None:
    wrong = re.compile(r"""((install|add)( -\S+)*|uvx|pipx run) ["']?windlass(?![\w-])""")
    folders = [ROOT / name for name in ("src", "docs", "examples", "scripts", "benchmarks", "ui/src")]
    files = [*ROOT.glob("*.md"), *(file for folder in folders for file in folder.rglob("*") if file.is_file())]
    texts = {file: file.read_text(errors="replace") for file in files if file.suffix in TEXT}
    assert len(texts) > 100
    assert [str(file.relative_to(ROOT)) for file, text in texts.items() if wrong.search(text)] == []


def test_the_source_archive_has_docs_and_examples(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=60)
    [built] = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    needed = {"README.md", "LICENSE", "docs/quick-start.md", "examples/embed.py", "src/windlass/web/static/index.html"}
    assert needed <= names


def test_it_runs_from_its_own_environment(program: Path, tmp_path: Path) -> None:
    code = "import windlass.cli, sys; print(windlass.cli.__file__)"
    done = subprocess.run(
        [program.with_name("python"), "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert Path(done.stdout.strip()).is_relative_to(program.parent.parent)
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.startswith("windlass ")
    assert os.access(program, os.X_OK)


def test_it_shows_its_page_and_completes_a_turn(served: str) -> None:
    with urllib.request.urlopen(f"{served}/", timeout=20) as page:
        assert b'<div id="root"' in page.read()
    wait_for(lambda: states(served) == ["running"], "the demo's tools")
    conversation = send(f"{served}/conversations", {"title": "Installed"})["conversation"]["id"]
    answer = send(f"{served}/conversations/{conversation}/chat", {"content": "/calculate expression=6*7"})
    assert answer["outcome"] == "answered" and "42" in answer["assistant_message"]["content"]


def states(served: str) -> list[str]:
    with urllib.request.urlopen(f"{served}/servers", timeout=20) as answer:
        return [server["status"] for server in json.load(answer)["servers"]]


def send(url: str, body: object) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        decoded: dict[str, Any] = json.load(answer)
        return decoded
