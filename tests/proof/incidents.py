"""Incidents of this field and bugs of our nearest peers, each with the tests that would have caught it here. The first
test is named after its incident; the rest show the same from another side."""

from tests.proof.rows import CORE, FAULTS, SEARCH, SERVERS, STORE, WEB

HERE = "tests/proof/test_incidents.py"
GUARD, SSRF, BROWSER = f"{WEB}/test_guard.py", f"{SEARCH}/test_guard.py", "tests/browser/test_incidents.py"
ACCESS, PEERS = "tests/proof/test_incidents_access.py", "tests/proof/test_incidents_peers.py"
STRANGER = f"{ACCESS}::test_without_the_token_nothing_is_told_and_nothing_runs"
REBOUND = f"{ACCESS}::test_a_page_of_another_name_is_refused_even_with_the_token"
IDS = f"{ACCESS}::test_an_id_opens_nothing_where_it_does_not_belong"
INSIDE = f"{ACCESS}::test_no_address_leads_inside"
FOLDER = f"{ACCESS}::test_a_link_or_a_name_that_begins_alike_leads_out_of_no_folder"
SHOWN = f"{BROWSER}::test_a_text_of_an_incident_is_only_shown"
DRAFT = f"{HERE}::test_cve_2026_45018_a_request_that_carries_a_command_runs_nothing"
TRIED = f"{HERE}::test_cve_2026_42271_and_cve_2026_30623_trying_a_draft_runs_nothing"
IMPORTED = f"{HERE}::test_cve_2026_40933_langflow_and_localai_9394_no_import_starts_anything"
ONE_WAY = f"{HERE}::test_cve_2026_45339_and_cve_2026_44567_there_is_one_way_in"
CHANGED = f"{FAULTS}/test_tools.py::test_a_tool_that_changes_in_mid_turn_is_not_run"

INCIDENTS: dict[str, tuple[str, ...]] = {
    "CVE-2025-49596: MCP Inspector, no token on localhost": (
        f"{STRANGER}[CVE-2025-49596]",
        f"{WEB}/test_access.py::test_every_route_refuses_strangers",
    ),
    "CVE-2025-66414: DNS rebinding, TypeScript SDK": (
        f"{REBOUND}[CVE-2025-66414]",
        f"{GUARD}::test_only_our_own_names_are_answered",
    ),
    "CVE-2025-66416: DNS rebinding, Python SDK": (
        f"{REBOUND}[CVE-2025-66416]",
        f"{GUARD}::test_a_host_header_that_comes_twice_is_refused",
    ),
    "CVE-2026-42559: DNS rebinding, Rust SDK": (
        f"{REBOUND}[CVE-2026-42559]",
        f"{GUARD}::test_only_our_own_origin_is_answered_whatever_the_method",
    ),
    "CVE-2026-45018: Chainlit, a command in a request": (DRAFT,),
    "CVE-2026-45019: Chainlit, SSRF": (f"{INSIDE}[CVE-2026-45019]",),
    "CVE-2026-22252: LibreChat, stdio without authorization": (f"{STRANGER}[CVE-2026-22252]", DRAFT),
    "CVE-2026-30623: LiteLLM, a test endpoint that executes": (TRIED,),
    "CVE-2026-42271: LiteLLM, the same, exploited": (TRIED,),
    "CVE-2026-40933: Flowise, an import that executes": (
        IMPORTED,
        f"{SERVERS}/test_imports.py::test_two_hundred_hostile_imports_start_nothing",
    ),
    "LangFlow: a configuration that executes": (IMPORTED,),
    "LocalAI 9394: an import that executes": (IMPORTED,),
    "Chatbox 3627: a link that starts servers": (f"{HERE}::test_chatbox_3627_opening_a_link_starts_nothing",),
    "OX 2026: the command runs before it fails": (
        f"{ACCESS}::test_ox_2026_a_command_does_not_run_before_it_is_found_wanting",
    ),
    "CVE-2025-6514: mcp-remote, an address in a shell": (f"{HERE}::test_cve_2025_6514_no_shell_sees_an_argument",),
    "CVE-2025-54136: MCPoison, approved then changed": (
        f"{HERE}::test_cve_2025_54136_a_changed_command_must_be_confirmed_again",
        f"{SERVERS}/test_supervisor.py::test_a_changed_command_that_nobody_confirmed_stops_it",
    ),
    "postmark-mcp: a new field after 15 clean versions, and every rug pull": (
        f"{ACCESS}::test_postmark_mcp_a_tool_that_gains_a_field_is_off_until_it_is_accepted",
        CHANGED,
        "tests/toolbox/test_offers.py::test_any_changed_field_changes_the_hash",
    ),
    "MCPTox: models obey poisoned descriptions": (
        f"{PEERS}::test_mcptox_a_poisoned_description_moves_an_obedient_model_to_nothing",
        "tests/proof/test_injection.py",
    ),
    "CVE-2025-32711: EchoLeak, images fetched by themselves": (
        f"{SHOWN}[CVE-2025-32711]",
        f"{GUARD}::test_every_response_carries_the_safety_headers",
    ),
    "CVE-2025-64496: Open WebUI, events that execute": (
        f"{HERE}::test_cve_2025_64496_events_of_the_model_server_are_data",
        f"{BROWSER}::test_cve_2025_64496_an_event_that_tells_the_page_to_execute_is_not_heard",
    ),
    "CVE-2026-109288: Open WebUI, a link that runs, a token that scripts can read": (
        f"{SHOWN}[CVE-2026-109288]",
        f"{BROWSER}::test_cve_2026_109288_no_script_can_read_what_lets_the_page_in",
    ),
    "CVE-2026-44568: Open WebUI, cleaned before it was parsed": (
        f"{SHOWN}[CVE-2026-44568]",
        f"{WEB}/test_conversations.py::test_a_markdown_export_reads_well_and_cannot_be_broken_out_of",
    ),
    "CVE-2026-45303: Open WebUI, HTML that is viewed": (f"{SHOWN}[CVE-2026-45303]",),
    "CVE-2026-56398: Open WebUI, a picture that runs": (f"{SHOWN}[CVE-2026-56398]",),
    "CVE-2026-45400: Open WebUI, two parsers of one address": (
        f"{INSIDE}[CVE-2026-45400]",
        f"{SSRF}::test_an_odd_address_is_refused_before_anything_is_asked",
    ),
    "CVE-2026-45401: Open WebUI, a redirect inside": (
        f"{INSIDE}[CVE-2026-45401]",
        f"{SSRF}::test_no_redirect_leads_to_a_private_address",
    ),
    "CVE-2026-70485: Open WebUI, NAT64": (
        f"{INSIDE}[CVE-2026-70485]",
        f"{SEARCH}/test_targets.py::test_an_address_inside_another_is_as_public_as_it_is_alone",
    ),
    "CVE-2026-31943: LibreChat, mapped addresses": (
        f"{INSIDE}[CVE-2026-31943]",
        f"{SSRF}::test_no_form_of_a_private_address_is_dialled",
    ),
    "CVE-2025-69222: LibreChat, SSRF": (
        f"{INSIDE}[CVE-2025-69222]",
        f"{SSRF}::test_a_name_that_changes_after_the_check_is_dialled_as_checked",
    ),
    "CVE-2025-54157: LobeChat, SSRF": (
        f"{INSIDE}[CVE-2025-54157]",
        f"{SSRF}::test_a_name_that_changes_between_two_hops_is_checked_again",
    ),
    "CVE-2026-45349: Open WebUI, chats of others by id": (f"{IDS}[CVE-2026-45349]",),
    "CVE-2026-45671: Open WebUI, files of others by id": (f"{IDS}[CVE-2026-45671]",),
    "CVE-2026-59216: Open WebUI, sessions of others by id": (
        f"{ACCESS}::test_cve_2026_59216_a_session_is_not_an_id_that_can_be_read_or_guessed",
    ),
    "CVE-2026-31950: LibreChat, a stream without an owner": (f"{STRANGER}[CVE-2026-31950]",),
    "CVE-2026-45339: Open WebUI, a second way in": (ONE_WAY,),
    "CVE-2026-44567: Open WebUI, the same": (ONE_WAY,),
    "CVE-2026-32625: LibreChat, ${ENV} in an address": (
        f"{HERE}::test_cve_2026_32625_no_environment_reaches_what_a_user_configured",
        f"{SERVERS}/test_imports.py::test_nothing_is_interpolated",
    ),
    "CVE-2026-109292: cookies sent on to tool servers": (
        f"{HERE}::test_cve_2026_109292_tool_servers_get_none_of_our_headers",
    ),
    "CVE-2026-54024: an import of any size": (f"{ACCESS}::test_cve_2026_54024_an_import_has_a_size",),
    "llama.cpp 25790: ?q= sends": (
        f"{HERE}::test_llama_cpp_25790_an_address_never_sends_a_message",
        f"{BROWSER}::test_llama_cpp_25790_an_address_fills_the_box_and_never_sends",
    ),
    "CVE-2025-53109: filesystem server, a link out": (f"{FOLDER}[CVE-2025-53109]",),
    "CVE-2025-53110: filesystem server, a name that begins alike": (f"{FOLDER}[CVE-2025-53110]",),
    "mcp-open-client-v2: any origin with credentials": (
        f"{REBOUND}[mcp-open-client-v2: any origin]",
        f"{GUARD}::test_no_method_is_answered_to_a_preflight",
    ),
    "mcp-open-client-v2: no auth": (f"{STRANGER}[mcp-open-client-v2: no auth]",),
    "mcp-open-client-v2: markdown put into the page as HTML": (f"{SHOWN}[mcp-open-client-v2: raw HTML]",),
    "mcp-open-client-v2: keys returned to the form": (
        f"{ACCESS}::test_mcp_open_client_v2_a_key_goes_in_and_never_comes_out",
        "tests/proof/test_canaries.py",
    ),
    "mcp-open-client: the user message twice": (f"{PEERS}::test_mcp_open_client_the_user_message_is_sent_once",),
    "mcp-open-client: the loop blocked by the model": (
        f"{HERE}::test_mcp_open_client_a_slow_model_holds_up_nobody_else",
    ),
    "mcp-open-client: an exhausted loop is a success": (
        f"{PEERS}::test_mcp_open_client_an_exhausted_loop_is_no_success",
    ),
    "mcp-open-client: history poisoned by bad JSON": (
        f"{HERE}::test_mcp_open_client_bad_json_of_a_model_poisons_nothing",
    ),
    "mcp-open-client: data lost in a crash": (
        f"{PEERS}::test_mcp_open_client_what_was_acknowledged_outlives_a_crash",
        f"{FAULTS}/test_kills.py::test_a_turn_survives_a_kill_at",
    ),
    "mcp-open-client: no auth, and POST /servers runs anything": (f"{STRANGER}[mcp-open-client: no auth]", DRAFT),
    "ExFrame: all but the first call dropped": (
        f"{PEERS}::test_exframe_every_call_of_a_reply_is_run_and_answered",
        "tests/e2e/test_loop.py::test_eight_calls_of_one_reply_overlap",
    ),
    "ExFrame: no tools in the second request": (f"{PEERS}::test_exframe_the_tools_are_there_in_every_request",),
    "ExFrame: errors as answers": (f"{PEERS}::test_exframe_an_error_is_no_answer",),
    "ExFrame: sources lost on the way": (f"{PEERS}::test_exframe_sources_arrive_with_the_answer",),
}

# What users of others suffer from, shown by tests with names of their own.
PAINS: dict[str, tuple[str, ...]] = {
    "agent-framework 3938: effects doubled on resume": (
        f"{CORE}/test_engine.py::test_an_unsafe_interrupted_call_is_reported_not_repeated",
        f"{FAULTS}/test_kills.py::test_conversations_at_once_survive_kills_at_random_moments",
    ),
    "pydantic-ai 4728: one orphan and every request is refused": (
        f"{CORE}/test_prompt.py::test_any_log_cut_anywhere_gives_a_prompt_that_a_strict_provider_accepts",
        f"{WEB}/test_conversations.py::test_a_broken_history_is_repaired_on_import_and_takes_a_next_turn",
    ),
    "open-webui 29596: a reload loses the stream": (
        f"{FAULTS}/test_reconnects.py::test_every_client_sees_the_log_however_often_it_is_cut_off",
    ),
    "email-mcp 60: 232 orphans": (f"{SERVERS}/test_supervisor.py::test_a_hundred_restarts_leave_nothing_behind",),
    "obot 5697: no stop while a prompt waits": (
        f"{WEB}/test_chat.py::test_stop_works_while_an_approval_waits_and_is_idempotent",
    ),
    "two servers on one file": (
        f"{STORE}/test_sqlite.py::test_a_second_process_on_the_folder_is_refused_in_clear_words",
    ),
}

# In the list of the field, and without a place here that it could happen in.
NOT_OURS: dict[str, str] = {
    "CVE-2026-54030: OAuth, a resource that is not checked": "there is no OAuth",
}
