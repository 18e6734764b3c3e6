"""Leases and listings of tasks on a store that several owners share (sdk.md 81-84)."""

from tests.unit.sdk.runtime.script import agent
from toolwire.adapters.clock import SystemClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.ports import Store
from toolwire.sdk.hosting.host import Host
from toolwire.sdk.hosting.task import Task
from toolwire.sdk.options import HostConfig
from toolwire.sdk.payloads import TaskCreated, TaskFailed


async def running(host: Host) -> Task:
    task = host.create()
    task.record(TaskCreated("go", agent_name=agent().name))
    await host.save(task)
    return task


async def test_a_task_is_taken_over_only_when_its_lease_has_lapsed_and_by_one_alone():
    store: Store = MemoryStore(SystemClock())
    alive, dead = Host(HostConfig(lease_s=60), store), Host(HostConfig(lease_s=0), store)
    await running(alive)
    left = await running(dead)
    one, other = Host(HostConfig(), store), Host(HostConfig(), store)

    ((task_id, lease, version),) = await one.left_running()
    assert (task_id, lease.owner) == (left.id, dead.owner)
    assert [await host.take_over(task_id, lease, version) for host in (one, other)] == [True, False]
    assert await other.left_running() == []


async def test_a_renewed_lease_has_not_lapsed():
    store: Store = MemoryStore(SystemClock())
    host = Host(HostConfig(lease_s=0), store)
    await running(host)
    await host.renew(60)

    assert await Host(HostConfig(), store).left_running() == []


async def test_what_another_owner_left_in_a_store_of_ours_alone_is_dead_at_once():
    store: Store = MemoryStore(SystemClock())
    left = await running(Host(HostConfig(lease_s=60), store))

    found = await Host(HostConfig(), store, exclusive=True).left_running()

    assert [task_id for task_id, _, _ in found] == [left.id]


async def test_a_task_at_rest_has_no_lease_and_is_listed_as_it_stands():
    store: Store = MemoryStore(SystemClock())
    host = Host(HostConfig(lease_s=0), store)
    task = await running(host)
    task.record(TaskFailed("because"))
    await host.save(task)

    other = Host(HostConfig(), store)
    assert await other.left_running() == []
    assert [(listed.task_id, listed.status) for listed in await other.list_tasks()] == [(task.id, "failed")]
    assert (await other.find(task.id)).failure == TaskFailed("because")
