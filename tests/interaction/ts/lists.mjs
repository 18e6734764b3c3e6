// Prints the list of tools that one of the official TypeScript clients sees, as a line of JSON: once it hears of changes,
// and after each change that it hears of. It goes on until its input ends.
//
//   node lists.mjs CLIENT MODE URL KEY
//
// CLIENT is v1 or v2, MODE is legacy or auto (v1 knows legacy alone), KEY goes with each request.

const [line, mode, url, key] = process.argv.slice(2);
const first = line === "v1";

const library = first
  ? {
      ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    }
  : await import("@modelcontextprotocol/client");

let heard;
const hearing = new Promise((resolve) => {
  heard = resolve;
});

// A client says nowhere that its stream of changes is open, so its requests are watched for it.
const watched = async (input, init) => {
  const response = await fetch(input, init);
  const isStream = init?.method === "GET" || String(init?.body ?? "").includes('"subscriptions/listen"');
  if (isStream && response.ok) {
    heard();
  }
  return response;
};

const show = async () => {
  const { tools } = await client.listTools();
  console.log(JSON.stringify(tools.map((tool) => tool.name)));
};
const client = new library.Client(
  { name: "lists", version: "1.0" },
  {
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void show() } },
    ...(first ? {} : { versionNegotiation: { mode } }),
  },
);
const transport = new library.StreamableHTTPClientTransport(new URL(url), {
  fetch: watched,
  requestInit: { headers: { authorization: `Bearer ${key}` } },
});

await client.connect(transport);
await hearing;
await show();
for await (const _ of process.stdin) {
  // Only its end is waited for.
}
await client.close();
process.exit(0);
