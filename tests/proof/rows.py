"""Which tests show which row of the fault matrix, and which incident of the field became which test. A row without a
test is not automated, and the scoreboard says so."""

PROVIDERS, SERVERS, WEB, CORE, STORE = (
    "tests/providers",
    "tests/servers",
    "tests/web",
    "tests/core",
    "tests/store",
)
FAULTS, SEARCH = "tests/faults", "tests/search"

ROWS: dict[str, tuple[str, ...]] = {
    "L1 429 with and without a wait": (
        f"{PROVIDERS}/test_failures.py::test_the_wait_a_server_asks_for",
        f"{PROVIDERS}/test_failures.py::test_the_wait_may_be_a_date",
        f"{PROVIDERS}/test_failures.py::test_a_wait_is_honoured_and_never_cut_short",
        f"{PROVIDERS}/test_failures.py::test_a_wait_that_is_too_long_is_not_waited_for_but_told",
        f"{PROVIDERS}/test_limiter.py::test_nobody_enters_before_the_pause_is_over_and_each_hears_its_place",
        f"{PROVIDERS}/test_limiter.py::test_fifty_turns_do_not_come_back_as_one",
    ),
    "L2 Z.AI's codes that pass": (
        f"{PROVIDERS}/test_failures.py::test_a_code_of_zai",
        f"{PROVIDERS}/test_limiter.py::test_a_refusal_halves_what_is_under_way_and_calm_wins_it_back",
    ),
    "L3 codes that do not pass": (
        f"{PROVIDERS}/test_failures.py::test_a_code_of_zai",
        f"{PROVIDERS}/test_failures.py::test_no_wait_is_given_for_what_cannot_heal",
        f"{CORE}/test_engine.py::test_a_failure_that_cannot_heal_ends_the_turn_with_its_cause",
    ),
    "L4 5xx, refused, DNS, TLS": (
        f"{PROVIDERS}/test_failures.py::test_a_status_without_a_code",
        f"{PROVIDERS}/test_failures.py::test_a_server_that_is_not_there_is_unreachable",
        f"{PROVIDERS}/test_failures.py::test_a_host_without_an_address_is_unreachable",
        f"{PROVIDERS}/test_config.py::test_a_certificate_nobody_knows_is_refused_for_good",
        f"{CORE}/test_engine.py::test_four_attempts_are_made_and_no_more",
    ),
    "L5 deadlines": (
        f"{PROVIDERS}/test_openai_chat.py::test_no_answer_at_all_is_a_timeout",
        f"{PROVIDERS}/test_outcomes.py::test_attempts_share_the_time_for_a_first_byte_and_a_hang_is_the_last",
        f"{PROVIDERS}/test_openai_chat.py::test_signs_of_life_do_not_stop_the_clock",
        f"{PROVIDERS}/test_openai_chat.py::test_a_reply_without_end_is_a_timeout_however_much_it_says",
    ),
    "L6 a hang after the headers": (f"{PROVIDERS}/test_openai_chat.py::test_silence_after_the_headers_is_a_timeout",),
    "L7 a cut stream": (
        f"{PROVIDERS}/test_corpus.py::test_a_stream_cut_at_any_byte_never_passes_for_whole",
        f"{PROVIDERS}/test_openai_chat.py::test_a_cut_stream_is_an_error_that_keeps_what_was_said",
        f"{CORE}/test_engine.py::test_a_retryable_failure_is_tried_again_and_watchers_are_told",
        f"{FAULTS}/test_model.py::test_a_stream_that_is_always_cut_fails_with_what_was_said_and_can_go_on",
        f"{FAULTS}/test_model.py::test_no_cut_of_a_generated_stream_passes_for_whole",
    ),
    "L8 ends without DONE": (
        f"{PROVIDERS}/test_corpus.py::test_a_stream_gives_the_expected_reply",
        f"{PROVIDERS}/test_openai_chat.py::test_a_finish_reason_is_enough_when_the_stream_ends_without_done",
    ),
    "L9 malformed framing": (
        f"{PROVIDERS}/test_sse.py::test_framing",
        f"{PROVIDERS}/test_sse.py::test_no_bytes_crash_it_and_tearing_changes_nothing",
        f"{PROVIDERS}/test_sse.py::test_a_line_without_end_is_refused_before_it_fills_the_memory",
        f"{FAULTS}/test_fuzz.py::test_no_input_breaks_a_parser",
        f"{FAULTS}/test_guided.py::test_no_stream_that_the_fuzzer_finds_breaks_the_parser",
    ),
    "L10 odd chunks": (
        f"{PROVIDERS}/test_assembly.py::test_a_well_formed_stream_gives_exactly_what_was_sent",
        f"{PROVIDERS}/test_assembly.py::test_no_json_crashes_it_and_every_call_can_go_back",
        f"{CORE}/test_engine.py::test_an_empty_reply_is_retried_once_then_fails",
    ),
    "L11 bad arguments": (
        f"{PROVIDERS}/test_calls.py::test_what_has_no_plain_meaning_is_broken",
        f"{PROVIDERS}/test_calls.py::test_an_object_cut_short_is_never_run",
        "tests/toolbox/test_schemas.py::test_errors_name_the_place_by_json_pointer",
        f"{CORE}/test_steps.py::test_three_bad_tries_on_one_tool_force_the_answer",
    ),
    "L12 unknown tools": ("tests/toolbox/test_permissions.py::test_an_unknown_tool_lists_the_nearest_and_runs_none",),
    "L13 duplicate and empty ids": (
        f"{CORE}/test_ids.py::test_a_call_id_follows_from_its_place_and_fits_every_wire",
        f"{FAULTS}/test_model.py::test_ids_that_clash_or_are_missing_are_told_apart",
    ),
    "L14 cut at the model's limit": (
        f"{CORE}/test_steps.py::test_a_reply_cut_by_the_models_own_limit_is_a_limit",
        f"{FAULTS}/test_model.py::test_a_call_cut_at_the_models_limit_is_not_run",
    ),
    "L15 other ends": (
        f"{PROVIDERS}/test_corpus.py::test_a_stream_gives_the_expected_reply",
        f"{FAULTS}/test_model.py::test_an_end_that_is_none_gives_a_cause_in_words",
    ),
    "L16 context overflow": (
        f"{CORE}/test_engine.py::test_a_context_overflow_trims_the_history_and_asks_again",
        f"{CORE}/test_engine.py::test_a_context_overflow_with_nothing_left_to_trim_fails",
        f"{PROVIDERS}/test_failures.py::test_an_overflow_is_known_by_its_words",
    ),
    "L17 endless loops": (
        f"{CORE}/test_steps.py::test_the_same_call_with_the_same_result_forces_the_answer_at_the_limit_of_repeats",
        f"{CORE}/test_steps.py::test_the_same_call_with_another_result_is_no_repetition",
        "tests/e2e/test_loop.py::test_ten_rounds_then_the_forced_answer",
    ),
    "L18 a page, an error in the stream": (
        f"{PROVIDERS}/test_failures.py::test_a_page_is_shown_in_its_first_300_characters_on_one_line",
        f"{PROVIDERS}/test_corpus.py::test_a_stream_gives_the_expected_reply",
    ),
    "M1 a crash in mid-call": (
        f"{SERVERS}/test_connection.py::test_a_server_that_crashes_in_mid_call_leaves_its_outcome_open",
        f"{SERVERS}/test_supervisor.py::test_a_server_that_died_is_started_again",
        f"{SERVERS}/test_supervisor.py::test_the_waits_grow_and_after_five_failures_it_is_left_alone",
    ),
    "M2 a hang": (
        f"{SERVERS}/test_connection.py::test_a_call_that_takes_too_long_is_cancelled_at_the_server",
        f"{SERVERS}/test_connection.py::test_progress_is_heard_and_renews_the_deadline",
        f"{SERVERS}/test_faults.py::test_a_deaf_server_is_replaced_after_a_timeout",
    ),
    "M3 huge results": (
        f"{SERVERS}/test_faults.py::test_an_answer_too_long_to_parse_is_given_whole_in_a_file",
        f"{SERVERS}/test_faults.py::test_an_answer_of_many_small_things_is_not_parsed_on_the_loop",
        f"{SERVERS}/test_faults.py::test_an_answer_longer_than_can_be_kept_fails_only_its_own_call",
        "tests/proof/test_measures.py::test_a_huge_result_costs_little_memory_and_holds_up_nobody",
    ),
    "M4 noise": (
        f"{SERVERS}/test_faults.py::test_noise_around_an_answer_is_ignored",
        f"{SERVERS}/test_faults.py::test_a_server_that_only_makes_noise_is_cut_off",
        f"{SERVERS}/test_faults.py::test_bad_bytes_in_an_answer_are_repaired",
    ),
    "M5 floods and deaf servers": (
        f"{SERVERS}/test_faults.py::test_a_flood_on_stderr_is_read_and_only_its_end_kept",
        f"{SERVERS}/test_faults.py::test_a_server_that_does_not_read_fails_the_write_in_time",
    ),
    "M6 hostile schemas": (
        "tests/toolbox/test_schemas.py::test_a_hostile_schema_keeps_its_tool_out_with_a_reason",
        "tests/toolbox/test_schemas.py::test_a_pattern_meant_to_take_for_ever_does_not",
        "tests/toolbox/test_schemas.py::test_the_corpus_of_broken_schemas_never_raises_anything_else",
    ),
    "M7 tools that change": (
        f"{SERVERS}/test_connection.py::test_a_changed_list_of_tools_is_followed",
        f"{SERVERS}/test_faults.py::test_a_storm_of_changes_is_followed_once_it_calms_down",
        f"{FAULTS}/test_tools.py::test_a_tool_that_changes_in_mid_turn_is_not_run",
    ),
    "M8 many tools, odd names": (
        "tests/toolbox/test_offers.py::test_every_name_is_valid_unique_and_independent_of_order",
        f"{SERVERS}/test_supervisor.py::test_a_thousand_tools_over_twenty_servers_keep_their_names",
    ),
    "M9 slow and failing starts": (
        f"{SERVERS}/test_faults.py::test_a_mute_server_fails_in_time_and_holds_up_nobody",
        f"{SERVERS}/test_faults.py::test_a_server_that_exits_at_once_says_why",
        f"{SERVERS}/test_faults.py::test_what_cannot_be_started_says_why",
    ),
    "M10 zombies": (
        f"{SERVERS}/test_supervisor.py::test_a_grandchild_ends_with_its_server",
        f"{SERVERS}/test_supervisor.py::test_a_hundred_restarts_leave_nothing_behind",
        f"{SERVERS}/test_supervisor.py::test_nothing_is_left_when_windlass_is_killed",
        f"{FAULTS}/test_kills.py::test_no_child_is_left_after_a_kill",
    ),
    "M11 faults over HTTP": (
        f"{SERVERS}/test_http.py::test_a_fault_fails_its_own_call_and_no_other",
        f"{SERVERS}/test_http.py::test_a_session_that_was_forgotten_is_opened_again_once",
        f"{SERVERS}/test_http.py::test_a_wrong_token_fails_with_a_word_about_it",
        f"{SERVERS}/test_http.py::test_an_answer_longer_than_allowed_fails_its_own_call",
    ),
    "M12 both eras": (
        f"{SERVERS}/test_conformance.py::test_a_scenario_passes_with_all_its_checks",
        f"{SERVERS}/test_connection.py::test_the_era_is_found_out_and_the_tools_are_listed",
        "tests/kit/test_ledger_server.py::test_an_older_handshake_version_can_be_pinned",
    ),
    "C1 reconnects": (
        f"{FAULTS}/test_reconnects.py::test_every_client_sees_the_log_however_often_it_is_cut_off",
        f"{FAULTS}/test_reconnects.py::test_any_last_id_gives_what_is_missing_or_everything",
    ),
    "C2 double submit": (f"{WEB}/test_chat.py::test_fifty_identical_posts_at_once_make_one_turn",),
    "C3 two tabs": (
        f"{WEB}/test_chat.py::test_a_second_message_on_a_running_branch_is_refused_naming_the_turn",
        f"{FAULTS}/test_clients.py::test_two_clients_see_one_log",
    ),
    "C4 races of words": (
        f"{FAULTS}/test_races.py::test_whatever_the_order_of_words_there_is_one_end",
        f"{FAULTS}/test_races.py::test_a_word_at_any_fault_point_of_a_turn_leaves_one_end",
    ),
    "C5 a slow reader": (
        "tests/bus/test_bus.py::test_a_stalled_watcher_is_brought_up_to_date_from_the_log",
        f"{FAULTS}/test_clients.py::test_a_reader_that_does_not_read_holds_up_nobody",
    ),
    "C6 an approval left for days": (
        "tests/test_runner.py::test_a_turn_left_waiting_survives_many_restarts",
        f"{FAULTS}/test_clock.py::test_an_approval_is_still_there_after_seven_days_and_restarts",
    ),
    "D1 disk full": (
        f"{STORE}/test_sqlite.py::test_a_full_disk_is_said_plainly_and_passes",
        f"{FAULTS}/test_storage.py::test_a_full_disk_at_any_moment_loses_nothing_acknowledged",
        f"{FAULTS}/test_storage.py::test_any_failing_write_leaves_no_half_record",
    ),
    "D2 locked, read-only, WAL gone": (
        f"{FAULTS}/test_storage.py::test_a_turn_waits_while_another_program_holds_the_database",
        f"{FAULTS}/test_storage.py::test_a_database_that_cannot_be_written_is_said_plainly",
        f"{FAULTS}/test_storage.py::test_a_deleted_log_file_leaves_a_sound_database",
    ),
    "D3 Postgres": (),
    "D4 clock, schema, corruption": (
        f"{STORE}/test_sqlite.py::test_a_newer_format_is_refused_and_left_alone",
        f"{FAULTS}/test_clock.py::test_a_jump_of_the_clock_ends_no_turn_and_keeps_the_order",
        f"{FAULTS}/test_storage.py::test_a_corrupt_database_is_said_plainly",
    ),
    "V1 SIGTERM": (f"{FAULTS}/test_stopping.py::test_a_server_told_to_go_leaves_its_turns_to_the_next",),
    "V2 SIGKILL": (
        f"{FAULTS}/test_kills.py::test_a_turn_survives_a_kill_at",
        f"{FAULTS}/test_kills.py::test_conversations_at_once_survive_kills_at_random_moments",
    ),
    "V3 many connections": ("tests/proof/test_measures.py::test_idle_watchers_cost_little_and_too_many_are_survived",),
    "V4 oversized, slow and garbage requests": (
        f"{WEB}/test_bad_input.py::test_too_large_a_body_is_413_declared_or_not",
        f"{FAULTS}/test_requests.py::test_bad_requests_never_give_a_5xx",
        f"{FAULTS}/test_requests.py::test_garbage_on_the_socket_is_survived",
    ),
    "V5 two servers on one file": (
        f"{STORE}/test_sqlite.py::test_a_second_process_on_the_folder_is_refused_in_clear_words",
    ),
}
