import os

import anyio

from toolwire.client import AsyncClient


async def main() -> None:
    async with AsyncClient(os.environ["TOOLWIRE_URL"], os.environ["TOOLWIRE_KEY"]) as client:
        kept = await client.files.upload("tides.txt", "text/plain", b"Twice a day.")
        async for piece in client.files.stream(kept.file_id):
            print(kept.filename, kept.size, piece)

        board = await client.workspaces.create("tides")
        note = await client.cards.add(board.id, "note", title="plan", content={"text": "look at the sea"})
        person = await client.cards.add(board.id, "agent", agent="demo")
        await client.cards.draw(board.id, note.id, person.id)
        print([card.title for card in (await client.workspaces.get(board.id)).cards])


anyio.run(main)
