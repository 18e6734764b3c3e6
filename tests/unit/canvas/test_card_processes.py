"""cards.md 60, §7, decision 24: the processes of Python cards, from the first call of a card to its removal."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.pids import until_gone
from tests.unit.card.manifests import encoded, manifest
from tests.unit.engine.fakes import LoopClock
from toolwire.adapters.memory import MemoryStore
from toolwire.canvas import card_processes
from toolwire.canvas.card_connections import CardConnection
from toolwire.canvas.card_log import CardLog, LogLine
from toolwire.canvas.card_processes import CardProcesses
from toolwire.canvas.card_tokens import CardTokens
from toolwire.canvas.packages import Package, Packages
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import CardRef, LogLevel

COPY = CardRef("card_1", "Radar")
HANGING = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)"
FAILING = "raise SystemExit('no database here')"


class HeardLog(CardLog):
    """A log that can be waited for."""

    def __init__(self) -> None:
        super().__init__(LoopClock(), Feed())
        self._news = anyio.Event()

    def write(self, about: str, level: LogLevel, text: str, workspace: str | None = None) -> None:
        super().write(about, level, text, workspace)
        self._news.set()

    async def lines(self, package: Package, count: int) -> list[LogLine]:
        """So many lines about a package, as soon as they are there."""
        with anyio.fail_after(10):
            while len(found := self.read(package.id)) < count:
                self._news = anyio.Event()
                await self._news.wait()
        return found


class NoPages:
    """The pages of nobody."""

    def __init__(self) -> None:
        self.woken: list[str] = []

    def wake(self, package: Package, card: CardRef) -> None:
        self.woken.append(card.id)

    def why_not(self, package: Package) -> str | None:
        return "no page is open"


class Bench:
    """Processes of one owner's packages."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        clock = LoopClock()
        self.packages = Packages(MemoryStore(clock), clock, folder / "packages", lambda owner: True)
        self.log, self.tokens, self.pages = HeardLog(), CardTokens(), NoPages()
        self.processes = CardProcesses(self.packages, self.tokens, self.log, self.pages, lambda: "http://127.0.0.1:9")
        self.given_up: list[str] = []
        self._news = anyio.Event()
        self.processes.on_ended(self._on_ended)

    async def install(self, code: str, version: str = "1.0.0", entry: str = "main.py") -> Package:
        """Install or update the package, and accept it."""
        source = self._folder / "source"
        source.mkdir(exist_ok=True)
        (source / entry).write_text(code)
        (source / "toolwire-card.json").write_bytes(encoded(manifest(entry=entry, version=version)))
        offer = await self.packages.add("alice", str(source))
        if offer.package.pending is None:
            return offer.package
        return await self.packages.consent("alice", offer.package.id, offer.package.pending.digest, True)

    async def given_up_times(self, count: int) -> None:
        """Wait until nobody need wait for a process any more, for so many times."""
        with anyio.fail_after(10):
            while len(self.given_up) < count:
                self._news = anyio.Event()
                await self._news.wait()

    def why(self, package: Package) -> str:
        return self.processes.why_not(package) or ""

    def _on_ended(self, package_id: str) -> None:
        self.given_up.append(package_id)
        self._news.set()


@asynccontextmanager
async def bench_in(tmp_path: Path) -> AsyncGenerator[Bench]:
    bench = Bench(tmp_path)
    async with bench.processes.running():
        yield bench


async def test_a_woken_card_is_one_process_that_knows_its_host_and_none_of_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cards.md 60, §7: one process for all copies."""
    monkeypatch.setenv("TOOLWIRE_MASTER_KEY", "secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    code = """
import os, sys, time
import beside
print(sorted(name for name in os.environ if "KEY" in name))
print(os.environ["TOOLWIRE_CARD_URL"])
print(os.environ["TOOLWIRE_CARD_TOKEN"])
print(os.path.exists("toolwire-card.json"), file=sys.stderr)
time.sleep(600)
"""
    async with bench_in(tmp_path) as bench:
        (tmp_path / "source").mkdir()
        (tmp_path / "source" / "beside.py").write_text("")
        package = await bench.install(code)
        before = sorted(bench.packages.tree(package).rglob("*"))
        for number in range(3):
            bench.processes.wake(package, CardRef(f"card_{number}", "Radar"))
        lines = await bench.log.lines(package, 4)
        out = [line.text for line in lines if line.level == "info"]
        assert out[:2] == ["[]", "http://127.0.0.1:9"]
        assert [line.text for line in lines if line.level == "warn"] == ["True"]
        assert bench.tokens.take(out[2].encode()) == package.id
        assert bench.tokens.take(out[2].encode()) is None
        assert "has not said host.ready" in bench.why(package)
        assert bench.given_up == []
        assert sorted(bench.packages.tree(package).rglob("*")) == before


async def test_a_process_ends_with_the_host(tmp_path: Path) -> None:
    async with bench_in(tmp_path) as bench:
        package = await bench.install(HANGING)
        bench.processes.wake(package, COPY)
        (line,) = await bench.log.lines(package, 1)
    await until_gone(int(line.text))
    bench.processes.wake(package, COPY)  # too late
    assert bench.given_up == [package.id]


async def test_a_card_that_fails_at_every_start_rests_ever_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cards.md §7: restart and limits."""
    monkeypatch.setattr(card_processes, "REST_S", (0.0, 500.0))
    async with bench_in(tmp_path) as bench:
        package = await bench.install(FAILING)
        bench.processes.wake(package, COPY)
        await bench.given_up_times(1)
        assert bench.why(package) == "its process ended with code 1 (no database here)"
        bench.processes.wake(package, COPY)
        await bench.given_up_times(2)
        assert "tried again in" in bench.why(package)
        bench.processes.wake(package, COPY)
        assert len(bench.given_up) == 3  # at once
        ends = [line for line in bench.log.read(package.id) if "ended with code 1" in line.text]
        assert [line.level for line in ends] == ["error"] * 2

        package = await bench.install(HANGING, "1.0.1")  # a new version has not failed yet
        bench.processes.wake(package, COPY)
        assert (await bench.log.lines(package, 5))[-1].text.isdigit()


async def test_who_waits_while_a_process_fails_gets_one_more_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision 24: a call right after a crash is not lost with what has crashed."""
    monkeypatch.setattr(card_processes, "REST_S", (0.0, 500.0))
    once = "import os\nif not os.path.exists('/proc/self/cwd/seen'): open('seen', 'w'); raise SystemExit(3)\n"
    async with bench_in(tmp_path) as bench:
        package = await bench.install(once + HANGING)
        bench.processes.wake(package, COPY)
        bench.processes.wake(package, CardRef("card_2", "Other"))
        lines = await bench.log.lines(package, 2)
        assert "code 3" in lines[0].text
        assert lines[1].text.isdigit()
        assert bench.given_up == []


async def test_a_process_that_lasted_starts_anew_without_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_processes, "QUICK_S", 0.0)
    monkeypatch.setattr(card_processes, "REST_S", (500.0,))
    async with bench_in(tmp_path) as bench:
        package = await bench.install("print('done')")
        for count in (1, 2, 3):
            bench.processes.wake(package, COPY)
            await bench.given_up_times(count)
        texts = [line.text for line in bench.log.read(package.id)]
        assert texts.count("done") == 3
        assert "ended with code 0" in texts[-1]


async def test_an_update_while_it_runs_starts_the_accepted_version(tmp_path: Path) -> None:
    """cards.md 25, decisions 18, 25."""
    async with bench_in(tmp_path) as bench:
        package = await bench.install(HANGING)
        bench.processes.wake(package, COPY)
        (old,) = await bench.log.lines(package, 1)
        await bench.install("print('new', flush=True)\n" + HANGING, "2.0.0")
        lines = await bench.log.lines(package, 3)
        assert lines[1].text == "new"
        await until_gone(int(old.text))
        assert bench.given_up == []
        await bench.packages.remove("alice", package.id)
        await until_gone(int(lines[2].text))
        await bench.given_up_times(1)


async def test_a_version_that_waits_for_consent_changes_nothing(tmp_path: Path) -> None:
    """Decision 18."""
    async with bench_in(tmp_path) as bench:
        package = await bench.install(HANGING)
        bench.processes.wake(package, COPY)
        await bench.log.lines(package, 1)
        await bench.packages.set_enabled(package, "run_tests", False)
        source = tmp_path / "source"
        declared = manifest(entry="main.py", version="3.0.0", permissions=["agents.read", "network.local"])
        (source / "toolwire-card.json").write_bytes(encoded(declared))
        offer = await bench.packages.add("alice", str(source))
        assert offer.package.status == "consent_required"
        await anyio.wait_all_tasks_blocked()
        assert len(bench.log.read(package.id)) == 1
        assert bench.given_up == []


async def test_what_is_stopped_starts_anew_when_it_is_woken(tmp_path: Path) -> None:
    async with bench_in(tmp_path) as bench:
        package = await bench.install(HANGING)
        bench.processes.stop(package.id)  # nothing runs
        bench.processes.wake(package, COPY)
        bench.processes.wake(package, COPY)
        (first,) = await bench.log.lines(package, 1)
        bench.processes.stop(package.id)
        await bench.given_up_times(1)
        await until_gone(int(first.text))
        bench.processes.wake(package, COPY)
        assert len(await bench.log.lines(package, 2)) == 2


async def test_a_process_that_gave_way_to_one_that_somebody_runs_has_not_failed(tmp_path: Path) -> None:
    async with bench_in(tmp_path) as bench:
        package = await bench.install("import time\nprint('here', flush=True)\ntime.sleep(0.2)\nraise SystemExit(1)")
        bench.processes.wake(package, COPY)
        await bench.log.lines(package, 1)
        bench.processes.make_way(CardConnection(package, None, is_child=True))
        bench.processes.make_way(CardConnection(package, None))
        (_, last) = await bench.log.lines(package, 2)
        assert (last.level, last.text) == ("info", "the card's process gave way to one that somebody runs")
        await bench.given_up_times(1)
        assert "has not said host.ready" in bench.why(package)


async def test_who_wakes_a_card_while_it_is_being_stopped_gets_the_next_process(tmp_path: Path) -> None:
    async with bench_in(tmp_path) as bench:
        package = await bench.install(HANGING)
        bench.processes.wake(package, COPY)
        await bench.log.lines(package, 1)
        bench.processes.stop(package.id)
        bench.processes.wake(package, COPY)
        first, second = await bench.log.lines(package, 2)
        assert first.text != second.text
        assert bench.given_up == []


async def test_a_tree_that_is_gone_is_told_as_what_it_is(tmp_path: Path) -> None:
    async with bench_in(tmp_path) as bench:
        package = await bench.install(HANGING)
        tree = bench.packages.tree(package)
        tree.rename(tmp_path / "elsewhere")
        bench.processes.wake(package, COPY)
        await bench.given_up_times(1)
        assert "cannot be started" in bench.why(package)


async def test_web_cards_are_woken_by_pages(tmp_path: Path) -> None:
    """cards.md 60."""
    async with bench_in(tmp_path) as bench:
        package = await bench.install("<p>card</p>", entry="index.html")
        bench.processes.wake(package, COPY)
        assert bench.pages.woken == ["card_1"]
        assert bench.why(package) == "no page is open"
