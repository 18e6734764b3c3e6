"""The latest calls of each arrow in full, as many as memory is given for them (cards.md decision 38)."""

from toolwire.canvas.whole_calls import KEPT_CALLS, MAX_LINES, ProgressLine, WholeCalls
from toolwire.core.result import text_result


def test_of_one_arrow_the_latest_are_kept_and_of_a_call_its_latest_lines() -> None:
    calls = WholeCalls()
    for number in range(KEPT_CALLS + 2):
        whole = calls.begin("arw_1", f"call_{number}", {}, ())
        for line in range(MAX_LINES + 1):
            whole.say(ProgressLine(line, str(line)))
        calls.end("arw_1", f"call_{number}", text_result("done"))
    assert calls.get("arw_1", "call_1") is None
    kept = calls.get("arw_1", "call_2")
    assert kept is not None
    assert (len(kept.progress), kept.progress[0].text) == (MAX_LINES, "1")


def test_large_results_push_out_the_oldest_of_any_arrow_and_calls_that_run_stay() -> None:
    calls = WholeCalls(kept_bytes=100)
    calls.begin("arw_1", "runs", {"text": "x" * 200}, ())
    for arrow, call in (("arw_1", "a"), ("arw_2", "b")):
        calls.begin(arrow, call, {}, ())
        calls.end(arrow, call, text_result("x" * 70))
    assert calls.get("arw_1", "a") is None
    assert calls.get("arw_2", "b") is not None
    assert calls.get("arw_1", "runs") is not None
    calls.end("arw_1", "runs", text_result("done"))
    assert calls.get("arw_1", "runs") is None, "it is larger than all that is kept"


def test_an_arrow_that_is_gone_lets_go_of_its_calls() -> None:
    calls = WholeCalls()
    calls.begin("arw_1", "a", {}, ())
    calls.end("arw_1", "a", text_result("done"))
    calls.end("arw_1", "unknown", text_result("done"))
    calls.forget("arw_1")
    assert calls.get("arw_1", "a") is None
