// Calls a tool that tells how far it is, through a connection that will break, and prints what came as one line of JSON.
//
//   node resume.mjs CLIENT URL TOOL
//
// CLIENT is v1 or v2.

const [client, url, tool] = process.argv.slice(2);

const modules = client === "v1"
  ? ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/streamableHttp.js"]
  : ["@modelcontextprotocol/client"];
const { Client, StreamableHTTPClientTransport } = Object.assign({}, ...(await Promise.all(modules.map((name) => import(name)))));

const options = client === "v1" ? {} : { versionNegotiation: { mode: "legacy" } };
const talker = new Client({ name: "resume", version: "1.0" }, options);
const told = [];
talker.onerror = () => {}; // a connection that breaks is what this is about

await talker.connect(new StreamableHTTPClientTransport(new URL(url)));
const callOptions = { onprogress: ({ progress }) => told.push(progress), timeout: 20000 };
const params = { name: tool, arguments: {} };
const result = await (client === "v1" ? talker.callTool(params, undefined, callOptions) : talker.callTool(params, callOptions));
await talker.close();
console.log(JSON.stringify({ told, text: result.content[0].text }));
