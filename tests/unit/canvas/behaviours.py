"""What the page about tools for agents asks for: each numbered behaviour of cards.md §1 in our words, with its tests.

The numbers are the contract's. A test is named by its file, or the folder of that, and its function; in TypeScript by
the beginning of its title. test_behaviours.py holds the two against each other, in both directions.
"""

from collections.abc import Mapping
from typing import NamedTuple

CANVAS = "tests/unit/canvas::"
CARD = "tests/unit/card::"
RADAR = "tests/e2e/test_test_radar.py::"
LISTS = "tests/e2e/test_toolbox_lists.py::"
TS = "packages/card-sdk/tests/"

GRANTS = CANVAS + "test_an_arrow_grants_the_tools_and_its_removal_takes_them"
SHOWN = CANVAS + "test_a_tool_is_shown_with_its_prefix_and_the_card_parameter"
HIDDEN = CANVAS + "test_a_tool_that_is_switched_off_is_hidden_from_all_agents"
TOLD = CANVAS + "test_a_call_carries_what_a_card_needs_to_know"
COPIES = CANVAS + "test_several_copies_are_never_guessed_between"
INVALID = CANVAS + "test_a_result_that_breaks_the_rules_is_an_error_for_the_agent"
DEADLINE = CANVAS + "test_at_its_deadline_the_agent_is_told_and_the_card_too_and_late_results_are_dropped"
PROGRESS = CANVAS + "test_progress_shows_on_the_arrow_four_times_a_second_with_the_latest_words"
THROWN = CANVAS + "test_a_thrown_errors_words_reach_the_agent_and_the_cards_log"
ASLEEP = CANVAS + "test_a_call_to_a_sleeping_card_wakes_it_once_for_all"
CLOSED = CANVAS + "test_a_closed_workspaces_cards_ask_to_open_it"
REFUSED = CARD + "test_what_is_wrong_is_told_with_its_place_and_a_code"
ASKS = CANVAS + "test_an_update_that_a_model_or_user_would_notice_asks_again_and_the_old_version_goes_on"
DECLARED = CANVAS + "test_a_tool_is_declared_in_the_manifest_and_done_by_the_card"
UNFIT = CANVAS + "test_what_does_not_fit_the_parameters_never_reaches_the_card"
WHOSE = CANVAS + "test_a_result_reaches_the_model_as_it_is_and_the_model_knows_whose_it_is"
CONFIRMS = CANVAS + "test_a_question_of_a_call_names_agent_tool_and_card_and_is_answered_once"
DECLINES = CANVAS + "test_the_calls_deadline_declines_its_question"
SEES = CARD + "test_a_handler_sees_its_arguments_and_who_calls_what_for_which_copy_until_when"
RETURNS = CARD + "test_what_a_plain_function_returns_is_the_result"
PARTS = CARD + "test_pictures_failures_and_several_parts_go_as_they_are"
RUNS = RADAR + "test_an_agent_runs_the_tests_of_a_project_through_the_card"
HANDLER = TS + "calls.test.ts::a handler gets the arguments and the call"
BECOMES = TS + "results.test.ts::%s becomes what the page says"
LATEST = TS + "react.test.tsx::the page's own component answers with the latest text"


class Behaviour(NamedTuple):
    """What is asked for, and the tests that show it; each of them names the number."""

    words: str
    tests: tuple[str, ...]


def _b(words: str, *tests: str) -> Behaviour:
    return Behaviour(words, tests)


BEHAVIOURS: Mapping[int, Behaviour] = {
    # Declaring
    1: _b("A card declares tools in its manifest and does them in its code.", DECLARED, RUNS),
    2: _b("An agent has the tools of the cards that arrows join it to, and no others.", GRANTS, RUNS),
    3: _b(
        "They come by the one MCP server that each agent has, with the clients that people use.",
        LISTS + "test_the_python_client_sees_what_arrows_grant_as_they_change",
        LISTS + "test_a_typescript_client_sees_what_arrows_grant_as_they_change",
    ),
    4: _b("Tools need no permission.", CANVAS + "test_a_tool_needs_no_permission"),
    5: _b(
        "Removing an arrow takes the tools away.",
        GRANTS,
        LISTS + "test_the_python_client_sees_what_arrows_grant_as_they_change",
    ),
    6: _b(
        "A tool has a name, a title, a description, parameters and, if it likes, a time-out.",
        DECLARED,
        CARD + "test_the_seeds_card_can_be_installed",
    ),
    8: _b("The description is for the model, word for word.", DECLARED),
    9: _b("Parameters can be constrained.", UNFIT),
    10: _b("Arguments are checked before the card sees the call.", UNFIT),
    11: _b("The agent is told what does not fit.", UNFIT),
    12: _b("Tools are listed whether or not the card is awake.", GRANTS, ASLEEP),
    # Names
    13: _b("A tool's name is its card's and its own.", CARD + "test_a_tools_name_is_its_cards_and_its_own", RUNS),
    14: _b("Its parameters are the manifest's, and `card`.", SHOWN),
    15: _b("`card` picks one of several copies, by id or name.", COPIES),
    16: _b("One connected copy needs no `card`.", COPIES),
    17: _b("`card` is the host's, and the card never sees it.", SHOWN, REFUSED),
    18: _b(
        "The description begins with who wrote the card.",
        SHOWN,
        CARD + "test_a_model_is_told_whose_tool_it_is_whatever_names_hold",
    ),
    19: _b(
        "The first package keeps a name, later ones get _2, _3.",
        CANVAS + "test_the_first_keeps_the_name_and_later_ones_are_numbered",
        CANVAS + "test_two_packages_of_one_name_are_two_and_the_first_keeps_its_names",
    ),
    20: _b(
        "That goes by name, in the order of installing.",
        CANVAS + "test_the_first_keeps_the_name_and_later_ones_are_numbered",
    ),
    21: _b("Names of built-in tools are refused.", CARD + "test_a_built_in_tools_name_is_refused", REFUSED),
    22: _b("A name with `__` is refused.", REFUSED),
    23: _b("Cards named like a built-in family are refused.", REFUSED),
    24: _b("What counts is the whole name.", REFUSED),
    25: _b("An update that adds a tool asks again.", ASKS),
    26: _b("An update that changes a description asks again.", ASKS),
    27: _b(
        "The first install shows the tools and asks.",
        CANVAS + "test_a_first_install_shows_what_agents_will_read_and_waits",
    ),
    # Handling
    28: _b("`handle` registers what does a tool.", HANDLER, SEES, RUNS),
    29: _b("It gets arguments that fit.", HANDLER, SEES),
    30: _b("`callId` is the call's.", TOLD, HANDLER, SEES),
    31: _b("`tool` is the manifest's name.", TOLD, HANDLER, SEES),
    32: _b("`agent` is who calls.", TOLD, HANDLER, SEES),
    33: _b("`deadline` is when the host gives up.", TOLD, HANDLER, SEES),
    34: _b(
        "`signal` aborts on cancel and at the deadline.",
        DEADLINE,
        TS + "calls.test.ts::the signal aborts at the deadline by the card's own timer",
    ),
    35: _b("`progress` shows a line on the arrow.", PROGRESS, RUNS),
    36: _b(
        "Four lines a second at most.",
        PROGRESS,
        CARD + "test_progress_is_told_four_times_a_second_at_most_and_the_last_of_it_before_the_result",
    ),
    37: _b(
        "What is returned after an abort is not sent.", TS + "seed.test.ts::nothing is sent when the agent has given up"
    ),
    38: _b(
        "Several calls are under way at once.",
        TS + "calls.test.ts::several calls are answered at once, each its own",
        CARD + "test_several_calls_are_in_flight_at_once",
        "tests/e2e/test_canvas_load.py::test_two_hundred_calls_at_once_each_get_their_own_answer",
    ),
    39: _b(
        "A handler can be taken away again.",
        TS + "calls.test.ts::a second handler of a tool is refused, until the first is unregistered",
        CARD + "test_a_call_waits_a_moment_for_a_handler_that_was_taken_away",
    ),
    # Results
    40: _b("A string is that text.", BECOMES, RETURNS, RUNS),
    41: _b("Nothing is OK.", BECOMES, RETURNS),
    42: _b("Another value is JSON to read.", BECOMES, RETURNS),
    43: _b("`toolText` is text.", BECOMES, RETURNS),
    44: _b(
        "`toolImage` is a picture with its caption.",
        TS + "results.test.ts::a picture comes before its caption",
        CANVAS + "test_text_and_pictures_come_through_whole",
    ),
    45: _b(
        "`toolError` is a failure that the model reads.", CANVAS + "test_a_failed_result_is_read_by_the_model", RUNS
    ),
    46: _b("A payload passes as it is.", CANVAS + "test_text_and_pictures_come_through_whole", BECOMES),
    47: _b("Its parts are text and pictures.", PARTS, CANVAS + "test_text_and_pictures_come_through_whole"),
    48: _b("1 to 16 of them.", INVALID, TS + "results.test.ts::a result has 1 to 16 parts"),
    49: _b("1 MiB at most.", INVALID, TS + "results.test.ts::a result has 1 MiB at most"),
    50: _b("What is thrown is the agent's to read.", THROWN),
    51: _b("And a warning in the card's log.", THROWN),
    52: _b("A result that cannot be is an error, not silence.", INVALID),
    # Time
    53: _b(
        "A tool has 30 seconds.",
        CANVAS + "test_a_tool_has_thirty_seconds_unless_its_manifest_says_otherwise",
    ),
    54: _b(
        "Or its own time, 120 seconds at most.",
        CANVAS + "test_a_tool_has_thirty_seconds_unless_its_manifest_says_otherwise",
        REFUSED,
    ),
    55: _b("At the deadline the agent is told.", DEADLINE),
    56: _b("And the card.", DEADLINE),
    57: _b("Later results are dropped.", DEADLINE),
    58: _b("An agent that gives up cancels.", CANVAS + "test_an_agent_that_gives_up_cancels_the_card"),
    59: _b(
        "A call waits for its handler.",
        TS + "calls.test.ts::a call that comes before its handler waits for it",
        TS + "calls.test.ts::a call that nobody handles waits until its deadline",
        CARD + "test_a_call_waits_for_a_handler_that_is_still_to_come",
    ),
    60: _b(
        "A sleeping card is woken, within 10 seconds.",
        ASLEEP,
        CANVAS + "test_a_card_that_does_not_wake_is_told_apart_from_one_that_is_slow",
    ),
    61: _b("A closed workspace is to be opened.", CLOSED),
    62: _b("That is said at once.", CLOSED),
    63: _b("A call shows on the arrow.", PROGRESS, RUNS),
    64: _b("And is in its log.", CANVAS + "test_the_log_survives_a_restart_and_is_read_in_pieces", RUNS),
    65: _b("The label ends with the call.", CANVAS + "test_a_label_says_when_its_call_is_over"),
    # Switching
    66: _b("A tool can be hidden and shown.", HIDDEN),
    67: _b("For all copies.", HIDDEN, CANVAS + "test_a_switched_off_tool_stays_so_until_the_package_goes"),
    68: _b("And for all agents.", HIDDEN),
    # React
    69: _b("`useTool` registers for the component's life.", LATEST),
    70: _b("With the latest closure.", LATEST),
    71: _b("Without a gap.", TS + "react.test.tsx::rendering anew does not register anew"),
    # Other interfaces
    72: _b(
        "`agents.list` has what is in the workspace.",
        TS + "card.test.ts::agents and terminals are listed, and changes are heard of",
        RUNS,
    ),
    73: _b(
        "`terminals.run` gives exit code and output.",
        CANVAS + "test_a_command_gives_its_output_and_exit_code",
        RUNS,
    ),
    74: _b(
        "A command has less time than its tool.",
        CANVAS + "test_the_example_gives_its_command_less_time_than_the_agent_gives_it",
    ),
    75: _b("`ui.confirm` asks the user.", CONFIRMS, CARD + "test_a_question_inside_a_call_names_it"),
    76: _b(
        "Errors say what to do.",
        CANVAS + "test_the_example_gives_its_command_less_time_than_the_agent_gives_it",
        RUNS,
    ),
    # Trust
    77: _b("A result enters the agent's context as it is.", WHOSE),
    78: _b("It may be untrusted, and agents are told.", WHOSE),
    79: _b("Nothing is destroyed without asking, and nobody there is a no.", CONFIRMS, DECLINES),
    80: _b("Cards are marked as community code.", WHOSE),
}
