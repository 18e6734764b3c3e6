"""Faults that users of other servers reported, and the tests that show ours without them (mcp.md 5).

Each row says in our words what went wrong, and, by where else it could go wrong, a test that names the row's number or
proves a requirement that does. test_reported_faults.py holds rows and tests against each other, in both directions.
"""

from collections.abc import Mapping
from typing import NamedTuple

NUMBERS = (1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 14, 16, 17, 20, 21, 22, 23, 25, 27, 28, 30, 32, 33, 35, 36, 37)
"""The rows of mcp.md 5."""

_I = "interaction/test_"
_U = "unit/"


class Fault(NamedTuple):
    """What was reported, and a test, `path::name` under tests/, for each place where it could be."""

    symptom: str
    tests: Mapping[str, str]


FAULTS: dict[int, Fault] = {
    1: Fault(
        "An unknown session is answered with 400, so that clients never initialize again.",
        {
            "every method": f"{_I}sessions.py::test_an_id_that_is_none_of_ours_is_a_404_for_every_request",
            "after a restart": f"{_I}sessions.py"
            "::test_after_a_restart_a_session_is_unknown_and_initialize_works_at_once",
            "another's": f"{_I}sessions.py::test_a_session_is_the_callers_own_and_the_endpoints_own",
            "our client": f"{_U}providers/test_remote_hostile.py"
            "::test_a_session_that_a_restart_forgot_is_opened_again_and_the_call_sent_once_more",
        },
    ),
    2: Fault(
        "After a new version is rolled out every client is dead, because 404 ends it.",
        {
            "words": f"{_I}sessions.py::test_after_a_restart_a_session_is_unknown_and_initialize_works_at_once",
            "no session needed": f"{_I}sessions.py::test_no_request_needs_a_session",
            "our client": f"{_U}providers/test_remote_hostile.py"
            "::test_a_session_that_a_restart_forgot_is_opened_again_and_the_call_sent_once_more",
        },
    ),
    3: Fault(
        "Idle sessions are kept for ever, and memory grows.",
        {
            "idle": f"{_I}sessions.py::test_a_session_that_is_idle_for_too_long_ends_and_one_in_use_does_not",
            "vanished": f"{_I}reported.py::test_sessions_that_vanish_cost_nothing_that_stays",
            "requests": f"{_I}leaving.py::test_nothing_is_kept_of_requests_that_have_ended",
        },
    ),
    5: Fault(
        "A session that was ended stays registered.",
        {"at once": f"{_I}sessions.py::test_delete_ends_a_session_at_once_and_for_good"},
    ),
    6: Fault(
        "A request that is refused leaves a session behind.",
        {
            "every refusal": f"{_I}sessions.py::test_what_is_refused_leaves_no_session_behind",
            "many": f"{_I}reported.py::test_refusals_by_the_thousand_leave_nothing_behind",
            "begun and left": f"{_I}reported.py::test_sessions_that_vanish_cost_nothing_that_stays",
        },
    ),
    7: Fault(
        "Of two requests under way with one id the second gets the first's result, and the first hangs.",
        {
            "HTTP": f"{_I}methods.py::test_two_requests_under_one_id_at_once_are_both_answered",
            "stdio": f"{_I}stdio.py::test_two_requests_under_one_id_at_once_are_both_answered",
            "other methods, agents": f"{_I}reported.py"
            "::test_requests_of_different_methods_under_one_id_get_each_its_own_result",
            "cancelling": f"{_I}leaving.py::test_only_the_session_itself_can_cancel_by_an_id_that_names_one_request",
        },
    ),
    8: Fault(
        "A request that hangs holds up the end of the server.",
        {
            "HTTP": f"{_I}leaving.py::test_a_request_that_outlasts_its_server_ends_and_a_later_one_is_told",
            "sockets": f"{_I}uvicorn.py::test_a_stop_answers_who_waits_for_json",
            "one id": f"{_I}reported.py::test_two_requests_under_one_id_hold_up_no_stop_and_both_are_told",
            "stdio": f"{_I}reported.py::test_two_requests_under_one_id_hold_up_no_stop_on_stdio_either",
            "a process": f"{_I}stdio_process.py::test_a_signal_to_end_cancels_what_is_under_way_and_says_so",
        },
    ),
    10: Fault(
        "A request that was cancelled is answered, and its client takes that for a broken connection.",
        {
            "HTTP": f"{_I}leaving.py::test_a_cancelled_call_stops_and_nothing_more_is_said_of_it",
            "stdio": f"{_I}stdio.py::test_a_cancelled_call_stops_and_nothing_more_is_said_of_it",
            "before it begins": f"{_I}stdio.py::test_a_call_that_is_cancelled_before_it_begins_does_not_begin",
            "under a key": f"{_I}leaving.py::test_a_call_under_a_key_goes_on_when_its_request_is_cancelled",
        },
    ),
    11: Fault(
        "Over HTTP progress is lost without a word.",
        {
            "HTTP": f"{_I}streams.py::test_progress_goes_before_the_result_with_the_token_as_it_came",
            "meanwhile": f"{_I}streams.py::test_progress_is_there_while_the_tool_works",
            "two at once": f"{_I}streams.py::test_each_of_two_calls_at_once_hears_of_itself_alone",
            "stdio": f"{_I}stdio.py::test_progress_goes_before_the_result_with_the_token_as_it_came",
            "agents": f"{_I}reported.py::test_what_was_reported_is_right_on_an_agents_endpoint_too",
        },
    ),
    12: Fault(
        "The client is gone, and its tool goes on.",
        {
            "JSON and SSE": f"{_I}leaving.py::test_on_the_newer_wire_a_client_that_goes_away_cancels_its_call",
            "sockets": f"{_I}uvicorn.py::test_a_socket_that_closes_cancels_the_call_on_the_newer_wire",
            "the older wire": f"{_I}leaving.py::test_on_the_older_wire_a_client_that_goes_away_cancels_nothing",
            "agents": f"{_I}reported.py::test_a_client_of_an_agent_that_goes_away_cancels_what_it_asked_for",
        },
    ),
    14: Fault(
        "A client leaves while a tool tells something, and the server breaks.",
        {
            "HTTP": f"{_I}leaving.py::test_telling_a_client_that_is_gone_is_no_fault",
            "before all is said": f"{_I}leaving.py::test_a_client_that_goes_away_before_all_is_said_is_not_answered",
            "agents": f"{_I}reported.py::test_telling_a_client_of_an_agent_that_is_gone_is_no_fault",
        },
    ),
    16: Fault(
        "A server with open streams hangs at its end, or ends them without a last frame.",
        {
            "streams": f"{_I}uvicorn.py::test_a_stop_ends_open_streams_with_an_answer_and_does_not_wait_for_ever",
            "unread": f"{_I}leaving.py::test_a_client_that_does_not_read_holds_up_no_stop",
            "within the grace": f"{_I}uvicorn.py::test_what_ends_within_the_grace_is_answered_as_ever",
            "gone on with": f"{_I}resume.py::test_a_stream_that_is_gone_on_with_ends_when_the_server_stops",
        },
    ),
    17: Fault(
        "Proxies close streams on which nothing is said.",
        {
            "a long call": f"{_I}streams.py::test_after_a_silence_a_stream_begins_and_stays_alive",
            "after progress": f"{_I}streams.py::test_a_stream_that_has_begun_is_kept_alive_too",
            "GET": f"{_I}changes.py::test_a_stream_without_news_is_kept_alive",
            "gone on with": f"{_I}resume.py::test_a_stream_that_is_gone_on_with_is_kept_alive",
        },
    ),
    20: Fault(
        "Tools that block run one after another, and everybody waits.",
        {
            "HTTP": f"{_I}methods.py::test_blocking_tools_overlap_and_the_rest_stays_answerable",
            "stdio": f"{_I}stdio.py::test_blocking_tools_overlap_and_the_rest_stays_answerable",
            "resources": f"{_I}resources.py::test_others_are_answered_meanwhile",
            "prompts": f"{_I}prompts.py::test_others_are_answered_while_a_prompt_is_made",
            "the SDK": f"{_U}sdk/test_handler.py::test_blocking_bodies_overlap",
        },
    ),
    21: Fault(
        "An unknown tool is a result with isError.",
        {
            "HTTP": f"{_I}methods.py::test_an_unknown_tool_is_an_error_of_the_protocol",
            "stdio": f"{_I}stdio.py::test_each_kind_of_failure_has_its_plane",
            "bad arguments": f"{_I}arguments.py::test_what_does_not_fit_either_way_is_told_to_the_model_in_words",
            "other names": f"{_I}reported.py::test_names_that_are_not_there_are_bad_params_for_whatever_is_named",
            "agents": f"{_I}reported.py::test_what_was_reported_is_right_on_an_agents_endpoint_too",
        },
    ),
    22: Fault(
        "An unknown tool is -32601, as if there were no tools/call.",
        {
            "every cell": f"{_I}arguments.py::test_a_name_that_is_no_tool_is_bad_params_and_no_missing_method",
            "other names": f"{_I}reported.py::test_names_that_are_not_there_are_bad_params_for_whatever_is_named",
            "agents": f"{_I}reported.py::test_what_was_reported_is_right_on_an_agents_endpoint_too",
        },
    ),
    23: Fault(
        "The check of structured content hides the error that the tool reports.",
        {
            "every cell": f"{_I}arguments.py::test_the_check_of_structured_content_does_not_hide_a_tools_own_error",
            "the other way": f"{_I}arguments.py::test_a_result_that_claims_to_have_worked_is_held_to_its_schema",
            "the SDK": f"{_U}sdk/test_handler.py::test_structured_content_is_checked_against_the_output_schema",
        },
    ),
    25: Fault(
        "$ref in an input schema breaks clients.",
        {
            "by hand": f"{_U}sdk/test_inlining.py"
            "::test_what_a_reference_names_is_written_in_its_place_and_the_definitions_go",
            "recursion": f"{_U}sdk/test_inlining.py"
            "::test_what_contains_itself_stays_a_reference_and_its_definition_stays_with_it",
            "by default": f"{_U}sdk/test_inlining.py::test_it_is_for_the_author_of_a_tool_to_ask_for",
            "from hints": f"{_U}sdk/test_derive.py::test_a_class_that_contains_itself_goes_to_defs",
        },
    ),
    27: Fault(
        "A text that looks like JSON becomes an object where a text is wanted, and an object sent as text is refused.",
        {
            "every cell": f"{_I}arguments.py::test_a_text_is_decoded_only_where_the_schema_wants_what_it_holds",
            "strict": f"{_I}arguments.py::test_what_does_not_fit_either_way_is_told_to_the_model_in_words",
            "strict agents": f"{_U}gateway/test_strict_tools.py::test_an_agents_strict_tool_is_strict_at_the_gateway",
            "agents": f"{_I}reported.py::test_what_was_reported_is_right_on_an_agents_endpoint_too",
            "the SDK": f"{_U}sdk/test_coerce.py::test_a_text_that_looks_like_json_stays_a_text_where_a_text_is_wanted",
        },
    ),
    28: Fault(
        "A body of 2026-07-28 under a header of 2025-11-25 is answered with a puzzle.",
        {
            "every method": f"{_I}lenient.py::test_by_default_every_such_request_is_refused_with_both_values",
            "older headers": f"{_I}ladder.py::test_a_body_of_the_newer_wire_under_an_older_header_is_told_both",
            "lenient": f"{_I}lenient.py::test_a_lenient_server_answers_such_a_body_as_its_wire_does",
            "stdio": f"{_I}stdio_lines.py::test_a_connection_of_the_older_wire_takes_no_requests_of_the_newer",
        },
    ),
    30: Fault(
        "Browsers may not send MCP's headers.",
        {
            "preflight": f"{_I}cors.py::test_a_named_page_is_told_that_it_may_send_every_header_of_mcp",
            "answers": f"{_I}cors.py::test_a_named_page_reads_every_kind_of_answer",
            "by default": f"{_I}cors.py::test_other_pages_are_told_nothing_and_by_default_all_are_others",
            "the gateway": f"{_U}gateway/test_pages.py"
            "::test_a_page_of_the_allowed_origins_may_ask_everywhere_and_read_what_is_refused",
            "tools serve": "e2e/test_pages.py::test_a_page_named_on_the_command_line_reads_each_answer_of_a_connection",
        },
    ),
    32: Fault(
        "A server on stdio ends, or is pinned to a wire, when it is probed with server/discover.",
        {
            "then initialize": f"{_I}stdio_lines.py::test_a_client_that_probes_with_discover_may_still_initialize",
            "then not": f"{_I}stdio_lines.py::test_a_client_that_probes_with_discover_may_go_on_without_initialize",
            "refused first": f"{_I}stdio_lines.py::test_what_is_refused_decides_for_no_wire",
        },
    ),
    33: Fault(
        "print() and child processes write into the protocol, and a child that reads hangs.",
        {
            "a process": f"{_I}stdio_process.py"
            "::test_whatever_tools_and_children_print_the_client_reads_messages_alone",
        },
    ),
    35: Fault(
        "A proxy opens a session of its server for each call.",
        {
            "one connection": f"{_U}providers/test_remote.py::test_one_connection_and_one_list_serve_all_calls",
            "each principal": f"{_U}providers/test_remote_pool.py"
            "::test_each_principal_has_one_session_that_no_other_has",
            "under load": f"{_U}providers/test_remote_pool.py::test_two_hundred_calls_at_once_share_one_session",
            "a process": f"{_U}providers/test_remote_pool.py::test_two_hundred_calls_at_once_go_to_one_process",
            "lists": f"{_U}providers/test_remote_pool.py::test_a_list_is_kept_until_its_time_is_over",
        },
    ),
    36: Fault(
        "What is advertised is not answered, or the other way round.",
        {
            "offered": f"{_I}resources.py::test_what_is_offered_is_advertised",
            "not offered": f"{_I}resources.py::test_what_is_not_offered_is_neither_advertised_nor_known",
            "agents": f"{_I}reported.py"
            "::test_what_an_agents_endpoint_advertises_it_answers_and_the_rest_it_does_not_know",
        },
    ),
    37: Fault(
        "A repeat with requestState reaches another worker, which refuses it.",
        {
            "another replica": f"{_I}asking_repeats.py::test_another_replica_begins_anew_with_the_answers_in_the_state",
            "another secret": f"{_I}asking_repeats.py::test_a_replica_with_another_secret_takes_no_state",
        },
    ),
}
