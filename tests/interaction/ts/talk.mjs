// Talks to a server with one of the official TypeScript clients and prints what it saw as one line of JSON.
//
//   node talk.mjs CLIENT MODE TARGET…
//
// CLIENT is v1 or v2, MODE is legacy, auto or a version to pin (v1 knows legacy alone), TARGET a URL, or a command with
// its arguments.

const [client, mode, ...target] = process.argv.slice(2);

const v1 = async () => ({
  ...(await import("@modelcontextprotocol/sdk/client/index.js")),
  ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
  ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
});
const v2 = async () => ({
  ...(await import("@modelcontextprotocol/client")),
  ...(await import("@modelcontextprotocol/client/stdio")),
});
const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await (client === "v1" ? v1() : v2());

const negotiation = mode === "legacy" || mode === "auto" ? mode : { pin: mode };
const options = client === "v1" ? {} : { versionNegotiation: { mode: negotiation } };
const talker = new Client({ name: "talk", version: "1.0" }, options);
const problems = [];
talker.onerror = (error) => problems.push(String(error));

const [first, ...rest] = target;
const transport = first.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(first))
  : new StdioClientTransport({ command: first, args: rest, stderr: "inherit" });

// The first client takes a schema of the result before the options, the second does not.
const call = (params, callOptions) =>
  client === "v1" ? talker.callTool(params, undefined, callOptions) : talker.callTool(params, callOptions);

const failure = async (doing) => {
  try {
    await doing;
  } catch (error) {
    return { code: error.code, token: error.data?.code, message: error.message };
  }
  return null;
};

await talker.connect(transport);
const seen = { version: talker.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null };
seen.server = talker.getServerVersion();
seen.tools = (await talker.listTools()).tools.map((tool) => tool.name);
seen.echo = (await call({ name: "echo", arguments: { text: "hé\n\u2028" } })).content;
seen.sum = (await call({ name: "add", arguments: { a: 2, b: 40 } })).structuredContent;
seen.progress = [];
const steps = await call({ name: "steps", arguments: { count: 3 } }, { onprogress: (told) => seen.progress.push(told) });
seen.steps = steps.content[0].text;
seen.failed = (await call({ name: "fail", arguments: {} })).isError;
seen.unfit = (await call({ name: "echo", arguments: { text: 7 } })).isError;
seen.unknown = await failure(call({ name: "nothing", arguments: {} }));

const texts = Array.from({ length: 20 }, (_, number) => `call ${number}`);
const answers = await Promise.all(texts.map((text) => call({ name: "echo", arguments: { text } })));
seen.together = answers.every((answer, number) => answer.content[0].text === texts[number]);

const giving = new AbortController();
const begun = {
  signal: giving.signal,
  onprogress: (told) => {
    seen.begun = told;
    giving.abort("enough");
  },
};
seen.givenUp = (await failure(call({ name: "tell_and_hold", arguments: {} }, begun))) !== null;
seen.after = (await call({ name: "echo", arguments: { text: "still here" } })).content[0].text;

if (transport.terminateSession) {
  await transport.terminateSession();
}
await talker.close();
console.log(JSON.stringify({ ...seen, problems }));
