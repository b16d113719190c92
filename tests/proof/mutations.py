"""The product broken on purpose, in a copy of its source: each breakage must make its named checks fail. What is not
noticed here would not be noticed when someone breaks it by mistake.

    python -m tests.proof.mutations [NAME ...]
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import windlass
from tests.proof.outcomes import VARIABLE, failed_tests

SOURCE = Path(windlass.__file__).parents[1]
ROOT = Path(__file__).parents[2]
INJECTION = "tests/proof/test_injection.py"
# Nothing of a failure is shown, so nothing of it is drawn: that parses the source again, in a process whose threads may
# parse too, and CPython 3.11 then ends pytest with "AST constructor recursion depth mismatch".
QUIETLY = ("-q", "-x", "--assert=plain", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist")


@dataclass(frozen=True, slots=True)
class Mutation:
    """`old` must be in the file exactly once. Every check must fail."""

    name: str
    file: str
    old: str
    new: str
    checks: tuple[str, ...]
    cheap: bool = False


MUTATIONS = (
    Mutation(
        "facts are not fenced",
        "store/turnlog.py",
        "if epoch is not None and epoch != head.epoch:",
        "if seen is not None and epoch != head.epoch:",
        ("tests/faults/test_schedules.py", "tests/store/test_turnlog.py::test_an_older_driver_is_fenced"),
    ),
    Mutation(
        "intents are unconditional",
        "store/turnlog.py",
        "seen is None or seen == head.count",
        "True",
        (
            "tests/faults/test_schedules.py",
            "tests/store/test_turnlog.py::test_intents_land_only_on_the_log_they_were_decided_on",
            "tests/faults/test_races.py::test_a_word_at_any_fault_point_of_a_turn_leaves_one_end",
        ),
    ),
    Mutation(
        "a second word counts too",
        "store/turnlog.py",
        'CallDecided: "decided", ',
        "",
        ("tests/faults/test_races.py::test_a_word_at_any_fault_point_of_a_turn_leaves_one_end",),
    ),
    Mutation(
        "a watcher that comes back misses an event",
        "bus/bus.py",
        "self._last = after",
        "self._last = after + bool(after)",
        ("tests/faults/test_reconnects.py::test_every_client_sees_the_log_however_often_it_is_cut_off",),
    ),
    Mutation(
        "a result is shown before it is committed",
        "store/turnlog.py",
        '        reach("rows_written")\n        return Committed(',
        "        if rows:\n"
        "            self._publish(Committed(head.conversation_id, turn_id, head.parent_id, tuple(rows)))\n"
        '        reach("rows_written")\n        return Committed(',
        ("tests/faults/test_order.py::test_nobody_is_told_of_an_end_that_is_not_on_disk",),
    ),
    Mutation(
        "a call is sent before it is written down",
        "core/engine.py",
        """                if await run.log.begin(len(seen), *starts, facts=facts):
                    reach("calls_begun")
                    for call in calls:
                        harmless = view.by_call[call.id].harmless
                        run.running[call.id] = run.group.create_task(_run(run, call, harmless))
                    await run.log.changed(len(seen) + len(facts) + len(starts))  # all of them landed, or none
""",
        """                for call in calls:
                    run.running[call.id] = run.group.create_task(_run(run, call, False))
                await run.log.begin(len(seen), *starts, facts=facts)
                reach("calls_begun")
""",
        ("tests/faults/test_order.py::test_nothing_is_sent_while_its_intent_is_not_on_disk",),
    ),
    Mutation(
        "orphaned calls are not repaired",
        "core/prompt.py",
        "        for call, speakable in zip(round_.calls, calls, strict=True):\n",
        "        for call, speakable in zip(round_.calls, calls, strict=True):\n"
        "            if call.finished is None or call.finished.state == 'unknown':\n                continue\n",
        (
            "tests/core/test_prompt.py::test_any_log_cut_anywhere_gives_a_prompt_that_a_strict_provider_accepts",
            "tests/faults/test_kills.py::test_a_turn_survives_a_kill_at[K12-after-effect-3-full]",
        ),
    ),
    Mutation(
        "imported orphans are not repaired",
        "services/imports.py",
        'yield ChatMessage("tool", result.content if result else NO_RESULT',
        'if result: yield ChatMessage("tool", result.content',
        ("tests/web/test_conversations.py::test_a_broken_history_is_repaired_on_import_and_takes_a_next_turn",),
    ),
    Mutation(
        "one route asks for no token",
        "web/endpoints.py",
        "if endpoint.route.public:",
        'if endpoint.route.public or endpoint.route.path == "/policy":',
        ("tests/web/test_access.py::test_every_route_refuses_strangers",),
        cheap=True,
    ),
    Mutation(
        "a call that asks needs no word",
        "core/fold.py",
        'return self.judged.verdict == "auto" or (self.decided is not None and self.decided.allow)',
        "return True",
        (INJECTION, "tests/proof/test_incidents_peers.py"),
    ),
    Mutation(
        "what was read outside is trusted",
        "toolbox/permissions.py",
        "    if source := read_outside():",
        "    if False:",
        (
            f"{INJECTION}::test_c5_an_obedient_model_causes_nothing_unasked_but_what_was_allowed",
            "tests/proof/test_side_by_side.py",
        ),
    ),
    Mutation(
        "what a server says of its failure is trusted",
        "toolbox/turn.py",
        "error.untrusted = not offer.closed_world",
        "error.untrusted = False",
        (f"{INJECTION}::test_c5_an_obedient_model_causes_nothing_unasked_but_what_was_allowed",),
    ),
    Mutation(
        "any name is ours",
        "web/guard.py",
        "if host in self._hosts or name in self._hosts or (self._any_port and name in LOOPBACK):",
        "if host:",
        (
            "tests/web/test_guard.py::test_only_our_own_names_are_answered",
            "tests/proof/test_incidents_access.py::test_a_page_of_another_name_is_refused_even_with_the_token",
        ),
    ),
    Mutation(
        "private addresses are public",
        "addresses.py",
        "if inner in METADATA or not inner.is_global:",
        "if isinstance(inner, IPv4Address):\n        return True\n    if inner in METADATA:",
        (
            "tests/search/test_guard.py::test_no_form_of_a_private_address_is_dialled",
            "tests/proof/test_incidents_access.py::test_no_address_leads_inside",
        ),
    ),
    Mutation(
        "a draft starts unconfirmed",
        "servers/values.py",
        'return self.transport == "stdio" and not (self.confirmed or self.operator)',
        "return False",
        ("tests/proof/test_incidents.py",),
    ),
    Mutation(
        "secrets stay in the rows",
        "store/vault.py",
        "return PREFIX + name",
        "return secret",
        ("tests/proof/test_canaries.py",),
    ),
    Mutation(
        "no barrier",
        "store/writer.py",
        "        _flush(self._journal)\n",
        "        pass\n",
        ("tests/faults/test_order.py::test_each_promise_waits_for_the_disk",),
    ),
    Mutation(
        "an unsafe interrupted call is run again",
        "core/steps.py",
        'return not call.interrupted or call.safe or call.resolved == "retry"',
        "return True",
        ("tests/faults/test_kills.py::test_a_turn_survives_a_kill_at[K12-after-effect-3-full]",),
    ),
    Mutation(
        "a cut stream passes for whole",
        "providers/assembly.py",
        '            raise self.interrupted("the stream ended before the reply did")',
        '            return "stop"',
        ("tests/providers/test_corpus.py::test_a_stream_cut_at_any_byte_never_passes_for_whole",),
        cheap=True,
    ),
)


def caught(mutation: Mutation) -> list[str]:
    """The checks that did not notice; none, if all is well."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("__pycache__"))
        break_on_purpose(mutation, source)
        return [check for check in mutation.checks if not fails(check, source)]


def break_on_purpose(mutation: Mutation, source: Path) -> None:
    file = source / "windlass" / mutation.file
    text = file.read_text()
    if text.count(mutation.old) != 1:
        raise ValueError(f"{mutation.name}: its place is {text.count(mutation.old)} times in {mutation.file}")
    file.write_text(text.replace(mutation.old, mutation.new))


def fails(check: str, source: Path) -> bool:
    """What pytest wrote down of each test counts, not its exit code: it may break after a test has failed. Raises
    `RuntimeError` when it ended badly and no test had failed."""
    with tempfile.TemporaryDirectory() as folder:
        outcomes = Path(folder) / "outcomes"
        env = {name: value for name, value in os.environ.items() if name not in ("PROOF_FIGURES", "SCALE")}
        env |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", VARIABLE: str(outcomes)}
        argv = [sys.executable, "-m", "pytest", *QUIETLY, "-p", "tests.proof.outcomes", check]
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        if failed_tests(outcomes):
            return True
    if done.returncode != 0:
        raise RuntimeError(f"{check} could not be run: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return False


def main() -> int:
    wanted = sys.argv[1:]
    missed = 0
    for mutation in MUTATIONS:
        if wanted and not any(word in mutation.name for word in wanted):
            continue
        unnoticed = caught(mutation)
        missed += bool(unnoticed)
        print(f"{'MISSED' if unnoticed else 'caught'}  {mutation.name}  {' '.join(unnoticed)}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
