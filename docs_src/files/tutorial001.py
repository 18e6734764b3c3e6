import csv
import io

from toolwire.agent import Agent, Ctx

agent = Agent("tables", description="Works on CSV files.")


@agent.tool
async def sort_rows(ctx: Ctx, column: str) -> list[object]:
    """Sort the rows of an attached CSV file by one of its columns."""
    [file] = ctx.attachments
    text = (await file.read(max_bytes=5_000_000, accept="text/csv")).decode()
    rows = sorted(csv.DictReader(io.StringIO(text)), key=lambda row: row[column])
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return [f"{len(rows)} rows", await ctx.file(out.getvalue().encode(), f"by-{column}.csv")]
