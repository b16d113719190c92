"""What other programs can read of our process: no keys in its environment, no core dump, no memory."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.app import clean_environment
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from tests.kit.windlass_process import windlass
from windlass.testing import StrictLLM, say

ROOT = Path(__file__).parent.parent
SOMEBODY = 54321  # an ordinary user, who need not be known to the system
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
KEYS = {
    "OPENAI_API_KEY": "canary-openai-1c0ffee",
    "ZAI_API_KEY": "canary-zai-1c0ffee",
    "WINDLASS_TOKEN": "canary-token-1c0ffee",
    "NOTES_SECRET": "canary-notes-1c0ffee",
    "LATER_KEY": "canary-later-1c0ffee",
}
HARDEN = "from windlass.hardening import harden_process; harden_process()"
LOOK = "import os, subprocess; print(subprocess.run(['cat', f'/proc/{os.getpid()}/environ']).returncode)"
STATE = "import ctypes, resource; print(ctypes.CDLL(None).prctl(3), resource.getrlimit(resource.RLIMIT_CORE)[0])"


def first_environment(pid: int) -> str:
    """As root sees it; nobody else sees anything."""
    try:
        return Path(f"/proc/{pid}/environ").read_text()
    except PermissionError:
        return ""


@LINUX
async def test_b1_a_server_forgets_the_keys_of_its_environment_and_still_uses_them(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command, *args = ledger.argv()
    run = f'[servers.ledger]\ncommand = "{command}"\nargs = {json.dumps(args)}\n'
    (home / "windlass.toml").write_text(run + 'env = { NOTES = "env:NOTES_SECRET" }\n')
    (home / "token").write_text(KEYS["WINDLASS_TOKEN"])  # for this test; the server has it from its environment
    strict_llm.then(say("Good morning."))
    env = {"OPENAI_BASE_URL": strict_llm.base_url, "LLM_MODEL": "strict-model", **KEYS}
    async with windlass(home, env=env) as server:
        kept = first_environment(server.pid)
        assert not [key for name, key in KEYS.items() if key in kept and name != "LATER_KEY"]
        assert os.geteuid() != 0 or "WINDLASS_HOME=" in kept  # the rest is there: the right memory was looked at
        made = await server.post("/conversations")
        chat = f"/conversations/{made['conversation']['id']}/chat"
        assert (await server.post(chat, {"content": "Hello"}))["outcome"] == "answered"
        assert strict_llm.requests[0].headers["authorization"] == f"Bearer {KEYS['OPENAI_API_KEY']}"

        (home / "windlass.toml").write_text(run + 'env = { NOTES = "env:NOTES_SECRET", MORE = "env:LATER_KEY" }\n')
        assert server.process
        server.process.send_signal(signal.SIGHUP)
        await until(lambda: "windlass.toml: reload settings" in server.log, "the settings to be read again")
        assert KEYS["LATER_KEY"] not in first_environment(server.pid)
        [entry, *_] = (await server.get("/audit"))["entries"]
        assert (entry["by"], entry["action"], entry["summary"]) == ("windlass.toml", "reload", "servers")
        shown = (await server.get("/servers/ledger"))["server"]
        assert shown["env_names"] == ["MORE", "NOTES"]


@LINUX
async def test_f6_a_server_leaves_no_core_dump(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home", verb="demo") as server:
        limits = Path(f"/proc/{server.pid}/limits").read_text()
    [core] = [line.split() for line in limits.splitlines() if line.startswith("Max core file size")]
    assert core[4:6] == ["0", "0"]


@LINUX
def test_b1_a_command_in_process_forgets_them_too(tmp_path: Path) -> None:
    code = (
        "import os; from tests.test_hardening import first_environment; from windlass.cli.program import run;"
        "run(['servers', 'list', '--json'], own_process=True);"
        "print(dict(os.environ), first_environment(os.getpid()))"
    )
    env = clean_environment(
        tmp_path / "home", OPENAI_API_KEY=KEYS["OPENAI_API_KEY"], OPENAI_BASE_URL="http://a.example"
    )
    argv = [sys.executable, "-c", code]
    done = subprocess.run(argv, env=env, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert "OPENAI_BASE_URL" in done.stdout and KEYS["OPENAI_API_KEY"] not in done.stdout + done.stderr


@LINUX
@pytest.mark.parametrize(("code", "reads"), [(LOOK, "0"), (f"{HARDEN}; {LOOK}", "1")], ids=["as it was", "hardened"])
def test_b1_no_program_of_the_same_user_reads_the_environment_of_a_hardened_process(code: str, reads: str) -> None:
    argv = [sys.executable]
    if os.geteuid() == 0:
        if not shutil.which("setpriv") or not os.access("/usr/bin/python3", os.X_OK):
            pytest.skip("no Python that an ordinary user may run")
        argv = ["setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups", "/usr/bin/python3"]
    env = {"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [*argv, "-c", code], env=env, cwd="/", capture_output=True, text=True, timeout=60, check=False
    )
    if "ModuleNotFoundError" in done.stderr or "PermissionError" in done.stderr:
        pytest.skip("an ordinary user may not read the source here")
    assert done.stdout.splitlines()[-1].endswith(reads), done.stderr


@LINUX
def test_a_program_that_embeds_windlass_is_left_alone(tmp_path: Path) -> None:
    code = (
        f"import asyncio, os; from windlass import Windlass\nasync def main():\n  async with Windlass():\n    {STATE}\n"
    )
    code += "asyncio.run(main())\nprint(os.environ['OPENAI_API_KEY'])"
    env = clean_environment(
        tmp_path / "home", OPENAI_API_KEY=KEYS["OPENAI_API_KEY"], OPENAI_BASE_URL="http://a.example"
    )
    before = subprocess.run(
        [sys.executable, "-c", STATE], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [before.stdout.strip(), KEYS["OPENAI_API_KEY"]]
