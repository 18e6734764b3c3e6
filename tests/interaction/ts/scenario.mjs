// The scenario with one of the official TypeScript clients, unmodified; prints what it saw at each step as a line of JSON.
//
//   node scenario.mjs CLIENT MODE TARGET…
//
// CLIENT is v1 or v2, MODE is legacy or auto (v1 knows legacy alone), TARGET a URL, or a command with its arguments. What
// must be seen at which step is told in scenario.py, for this script and that of the other language.

import { setTimeout as sleep } from "node:timers/promises";

const [line, mode, ...target] = process.argv.slice(2);
const LEVEL_KEY = "io.modelcontextprotocol/logLevel";
const PATIENCE_MS = 20_000;

const v1 = async () => ({
  ...(await import("@modelcontextprotocol/sdk/client/index.js")),
  ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
  ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
  ...(await import("@modelcontextprotocol/sdk/types.js")),
});
const v2 = async () => ({
  ...(await import("@modelcontextprotocol/client")),
  ...(await import("@modelcontextprotocol/client/stdio")),
});
const first = line === "v1";
const library = await (first ? v1() : v2());

let changed;
const change = new Promise((resolve) => {
  changed = resolve;
});
const options = {
  capabilities: { elicitation: { form: {} }, sampling: {} },
  listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changed() } },
  ...(first ? {} : { versionNegotiation: { mode } }),
};
const client = new library.Client({ name: "scenario", version: "1.0" }, options);

// The first line names what it handles by schemas, the second by methods.
const answer = (method, schema, handler) => client.setRequestHandler(first ? library[schema] : method, handler);
const hear = (method, schema, handler) => client.setNotificationHandler(first ? library[schema] : method, handler);

const logged = [];
answer("elicitation/create", "ElicitRequestSchema", async () => ({ action: "accept", content: { name: "Ada" } }));
answer("sampling/createMessage", "CreateMessageRequestSchema", async () => ({
  role: "assistant",
  model: "a-model",
  content: { type: "text", text: "it rises" },
}));
hear("notifications/message", "LoggingMessageNotificationSchema", ({ params }) => {
  logged.push([params.level, params.data]);
});

const transport = target[0].startsWith("http")
  ? new library.StreamableHTTPClientTransport(new URL(target[0]))
  : new library.StdioClientTransport({ command: target[0], args: target.slice(1), stderr: "inherit" });

// The first line takes a schema of the result before the options, the second does not.
const call = (name, args = {}, callOptions = undefined, more = {}) => {
  const params = { name, arguments: args, ...more };
  return first ? client.callTool(params, undefined, callOptions) : client.callTool(params, callOptions);
};
const text = (result) => result.content[0].text;
const pick = (value, ...keys) => Object.fromEntries(keys.map((key) => [key, value[key]]));

await client.connect(transport);
const version = () => client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
const modern = mode !== "legacy";

const steps = {
  connect: async () => ({
    ...pick(client.getServerVersion(), "name", "version"),
    instructions: client.getInstructions(),
  }),
  list_tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  list_resources: async () => (await client.listResources()).resources.map((resource) => resource.uri),
  list_templates: async () =>
    (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
  list_prompts: async () =>
    (await client.listPrompts()).prompts.map((prompt) => ({
      name: prompt.name,
      arguments: prompt.arguments.map((argument) => argument.name),
    })),
  call: async () => pick(await call("echo", { text: "hé\n\u2028" }), "content"),
  structured_output: async () => (await call("add", { a: 2, b: 40 })).structuredContent,
  image: async () => pick((await call("picture")).content[0], "mimeType", "data"),
  progress: async () => {
    const heard = [];
    const onprogress = ({ progress, total, message }) => heard.push([progress, total, message]);
    const result = await call("steps", { count: 3 }, { onprogress });
    return { heard, text: text(result) };
  },
  error_result: async () => {
    const result = await call("fail");
    return { isError: result.isError, text: text(result) };
  },
  bad_arguments: async () => pick(await call("add", { a: "many" }), "isError"),
  unknown_tool: async () => {
    try {
      await call("nothing");
    } catch (error) {
      return { code: error.code, token: error.data?.code };
    }
    return null;
  },
  read_text: async () => pick((await client.readResource({ uri: "scenario://about" })).contents[0], "mimeType", "text"),
  read_bytes: async () => pick((await client.readResource({ uri: "scenario://pixel" })).contents[0], "mimeType", "blob"),
  read_template: async () => (await client.readResource({ uri: "scenario://7/square" })).contents[0].text,
  get_prompt: async () => {
    const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada", tone: "calm" } });
    return messages.map(({ role, content }) => ({ role, text: content.text }));
  },
  completion: async () => {
    const ref = { type: "ref/prompt", name: "greet" };
    return (await client.complete({ ref, argument: { name: "name", value: "A" } })).completion.values;
  },
  logging: async () => {
    if (!modern) {
      await client.setLoggingLevel("info");
    }
    await call("log", {}, undefined, modern ? { _meta: { [LEVEL_KEY]: "info" } } : {});
    return logged;
  },
  elicitation: async () => text(await call("ask_name")),
  sampling: async () => text(await call("ask_model")),
  list_changed: async () => {
    await call("grow");
    await change;
    return (await client.listTools()).tools.map((tool) => tool.name);
  },
  together: async () => {
    const texts = Array.from({ length: 20 }, (_, number) => `call ${number}`);
    const answers = await Promise.all(texts.map((said) => call("echo", { text: said })));
    return answers.every((result, number) => text(result) === texts[number]);
  },
  cancellation: async () => {
    const giving = new AbortController();
    const held = call("hold", {}, { signal: giving.signal, onprogress: () => giving.abort("enough") });
    const gaveUp = await held.then(
      () => false,
      () => true,
    );
    return { gaveUp, wasCancelled: text(await call("was_cancelled")) === "true" };
  },
  after: async () => text(await call("echo", { text: "still here" })),
};

const seen = {};
for (const [name, step] of Object.entries(steps)) {
  const late = sleep(PATIENCE_MS, null, { ref: false }).then(() => {
    throw new Error(`step ${name} takes too long`);
  });
  seen[name] = await Promise.race([step(), late]);
}
const spoken = version();
await client.close();
console.log(JSON.stringify({ version: spoken, steps: seen }));
process.exit(0);
