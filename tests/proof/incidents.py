"""Incidents of this field and bugs of our nearest peers, each with the tests that would have caught it here."""

from tests.proof.rows import CORE, FAULTS, SEARCH, SERVERS, STORE, WEB

HERE = "tests/proof/test_incidents.py"
ACCESS, GUARD, SSRF = f"{WEB}/test_access.py", f"{WEB}/test_guard.py", f"{SEARCH}/test_guard.py"
FORMS = f"{SSRF}::test_no_form_of_a_private_address_is_dialled"
DRAFT = f"{HERE}::test_cve_2026_45018_a_request_that_carries_a_command_runs_nothing"

INCIDENTS: dict[str, tuple[str, ...]] = {
    "CVE-2025-49596 MCP Inspector, no token on localhost": (
        f"{ACCESS}::test_every_route_refuses_strangers",
        f"{ACCESS}::test_only_health_and_the_login_are_public",
    ),
    "CVE-2025-66414 DNS rebinding, TypeScript SDK": (f"{GUARD}::test_only_our_own_names_are_answered",),
    "CVE-2025-66416 DNS rebinding, Python SDK": (f"{GUARD}::test_a_host_header_that_comes_twice_is_refused",),
    "CVE-2026-42559 DNS rebinding, Rust SDK": (f"{GUARD}::test_only_our_own_origin_is_answered_whatever_the_method",),
    "CVE-2026-45018 Chainlit, a command in a request": (DRAFT,),
    "CVE-2026-45019 Chainlit, SSRF": (FORMS,),
    "CVE-2026-22252 LibreChat, stdio without authorization": (f"{ACCESS}::test_every_route_refuses_strangers", DRAFT),
    "CVE-2026-30623 LiteLLM, a test endpoint that executes": (
        f"{HERE}::test_cve_2026_42271_trying_a_draft_runs_nothing",
    ),
    "CVE-2026-42271 LiteLLM, the same, exploited": (f"{HERE}::test_cve_2026_42271_trying_a_draft_runs_nothing",),
    "CVE-2026-40933 Flowise, an import that executes": (
        f"{SERVERS}/test_imports.py::test_two_hundred_hostile_imports_start_nothing",
        f"{HERE}::test_cve_2026_40933_two_hundred_imports_over_http_start_nothing",
    ),
    "LocalAI 9394, an import that executes": (
        f"{HERE}::test_cve_2026_40933_two_hundred_imports_over_http_start_nothing",
    ),
    "Chatbox 3627, a link that starts servers": (f"{HERE}::test_chatbox_3627_opening_a_link_starts_nothing",),
    "OX 2026, the command runs before it fails": (
        f"{SERVERS}/test_supervisor.py::test_a_draft_does_not_start_until_its_command_is_confirmed",
    ),
    "CVE-2025-6514 mcp-remote, an address in a shell": (f"{HERE}::test_cve_2025_6514_no_shell_sees_an_argument",),
    "CVE-2025-54136 MCPoison, approved then changed": (
        f"{SERVERS}/test_supervisor.py::test_a_changed_command_that_nobody_confirmed_stops_it",
        f"{HERE}::test_cve_2025_54136_a_changed_command_must_be_confirmed_again",
    ),
    "Tool poisoning and rug pulls": (
        f"{SERVERS}/test_pins.py::test_any_changed_field_changes_the_hash_and_is_named",
        f"{FAULTS}/test_tools.py::test_a_tool_that_changes_in_mid_turn_is_not_run",
    ),
    "postmark-mcp, a new field after 15 clean versions": (
        f"{FAULTS}/test_tools.py::test_a_tool_that_changes_in_mid_turn_is_not_run",
    ),
    "MCPTox, models obey": ("tests/proof/test_injection.py",),
    "CVE-2025-32711 EchoLeak, remote loads": (f"{GUARD}::test_every_response_carries_the_safety_headers",),
    "CVE-2025-64496 Open WebUI, events that execute": (
        f"{HERE}::test_cve_2025_64496_events_of_the_model_server_are_data",
    ),
    "CVE-2026-109288 Open WebUI, a token scripts can read": (
        f"{ACCESS}::test_the_one_time_key_becomes_a_session_and_is_then_void",
    ),
    "CVE-2026-44568 Open WebUI, markup in an export": (
        f"{WEB}/test_conversations.py::test_a_markdown_export_reads_well_and_cannot_be_broken_out_of",
    ),
    "CVE-2026-45400 Open WebUI, two parsers of one address": (
        f"{SSRF}::test_an_odd_address_is_refused_before_anything_is_asked",
    ),
    "CVE-2026-45401 Open WebUI, a redirect inside": (f"{SSRF}::test_no_redirect_leads_to_a_private_address",),
    "CVE-2026-70485 Open WebUI, NAT64": (
        f"{SEARCH}/test_addresses.py::test_an_address_inside_another_is_as_public_as_it_is_alone",
    ),
    "CVE-2026-31943 LibreChat, mapped addresses": (FORMS,),
    "CVE-2025-69222 LibreChat, SSRF": (f"{SSRF}::test_a_name_that_changes_after_the_check_is_dialled_as_checked",),
    "CVE-2025-54157 LobeChat, SSRF": (f"{SSRF}::test_a_name_that_changes_between_two_hops_is_checked_again",),
    "CVE-2026-45349 Open WebUI, ids of others": (f"{WEB}/test_bad_input.py::test_ids_of_another_conversation_are_404",),
    "CVE-2026-31950 LibreChat, a stream without an owner": (f"{ACCESS}::test_every_route_refuses_strangers",),
    "CVE-2026-45339 Open WebUI, a second way in": (f"{HERE}::test_cve_2026_45339_there_is_one_way_in",),
    "CVE-2026-32625 LibreChat, ${ENV} in an address": (
        f"{SERVERS}/test_imports.py::test_nothing_is_interpolated",
        f"{HERE}::test_cve_2026_32625_no_environment_reaches_what_a_user_configured",
    ),
    "CVE-2026-109292 our cookies sent to tool servers": (
        f"{HERE}::test_cve_2026_109292_tool_servers_get_none_of_our_headers",
    ),
    "CVE-2026-54024 an import of any size": (
        f"{SERVERS}/test_imports.py::test_an_import_has_a_size",
        f"{WEB}/test_bad_input.py::test_too_large_a_body_is_413_declared_or_not",
    ),
    "llama.cpp 25790, ?q= sends": (f"{HERE}::test_llama_cpp_25790_an_address_never_sends_a_message",),
    "CVE-2025-53109 filesystem, links and prefixes": (
        "tests/demo/test_server.py::test_nothing_outside_the_sample_folder_is_read",
    ),
    "mcp-open-client-v2, any origin with credentials": (f"{GUARD}::test_no_method_is_answered_to_a_preflight",),
    "mcp-open-client-v2, keys returned to the form": ("tests/proof/test_canaries.py",),
    "mcp-open-client, the user message twice": (
        f"{WEB}/test_chat.py::test_on_the_wire_everything_is_there_once_and_in_order",
    ),
    "mcp-open-client, the loop blocked by the model": (
        f"{HERE}::test_mcp_open_client_a_slow_model_holds_up_nobody_else",
    ),
    "mcp-open-client, an exhausted loop is a success": (
        f"{WEB}/test_chat.py::test_ten_rounds_then_the_forced_answer_and_outcome_limit",
    ),
    "mcp-open-client, history poisoned by bad JSON": (
        f"{HERE}::test_mcp_open_client_bad_json_of_a_model_poisons_nothing",
    ),
    "mcp-open-client, data lost in a crash": (f"{FAULTS}/test_kills.py::test_a_turn_survives_a_kill_at",),
    "mcp-open-client, POST /servers runs anything": (DRAFT,),
    "ExFrame, all but the first call dropped": ("tests/e2e/test_loop.py::test_eight_calls_of_one_reply_overlap",),
    "ExFrame, no tools in the second request": (
        "tests/e2e/test_seed.py::test_on_the_wire_nothing_is_missing_and_nothing_is_twice",
    ),
    "ExFrame, errors as answers": (f"{WEB}/test_chat.py::test_a_failed_turn_has_the_status_of_its_cause",),
    "ExFrame, sources lost on the way": (
        "tests/e2e/test_search.py::test_a_question_after_slashes_is_searched_for_and_answered_with_sources",
    ),
    "agent-framework 3938, effects doubled on resume": (
        f"{CORE}/test_engine.py::test_an_unsafe_interrupted_call_is_reported_not_repeated",
        f"{FAULTS}/test_kills.py::test_conversations_at_once_survive_kills_at_random_moments",
    ),
    "pydantic-ai 4728, one orphan and every request is refused": (
        f"{CORE}/test_prompt.py::test_any_log_cut_anywhere_gives_a_prompt_that_a_strict_provider_accepts",
        f"{WEB}/test_conversations.py::test_a_broken_history_is_repaired_on_import_and_takes_a_next_turn",
    ),
    "open-webui 29596, a reload loses the stream": (
        f"{FAULTS}/test_reconnects.py::test_every_client_sees_the_log_however_often_it_is_cut_off",
    ),
    "email-mcp 60, 232 orphans": (f"{SERVERS}/test_supervisor.py::test_a_hundred_restarts_leave_nothing_behind",),
    "obot 5697, no stop while a prompt waits": (
        f"{WEB}/test_chat.py::test_stop_works_while_an_approval_waits_and_is_idempotent",
    ),
    "two servers on one file": (
        f"{STORE}/test_sqlite.py::test_a_second_process_on_the_folder_is_refused_in_clear_words",
    ),
}
