import anyio

from docs_src.long_work.tutorial001 import server
from toolwire.server import TaskLimits

LIMITS = TaskLimits(timeout_s=600, ttl_s=3600, poll_s=2)


async def main() -> None:
    async with server.open(tasks=LIMITS) as served:
        await served.serve_stdio()


if __name__ == "__main__":
    anyio.run(main)
