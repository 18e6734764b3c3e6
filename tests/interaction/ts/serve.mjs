// Serves three tools on stdin and stdout with the official TypeScript server of the first line, which knows 2025-11-25
// and older versions alone.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const text = { type: "string" };
const schema = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const tools = [
  { name: "echo", description: "Say it again.", inputSchema: schema({ text }), _meta: { "example.org/kind": "echo" } },
  { name: "ask", description: "Ask for a name.", inputSchema: schema({}) },
  { name: "steps", description: "Tell of three steps.", inputSchema: schema({}) },
];

const server = new Server(
  { name: "typescript", version: "1.0" },
  { capabilities: { tools: {}, resources: {} }, instructions: "Read before you write." },
);
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: "note://1", name: "one" }] }));
server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({ contents: [{ uri: params.uri, text: "1" }] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
  const say = (words) => ({ content: [{ type: "text", text: words }], _meta: { "example.org/seen": params.name } });
  if (params.name === "echo") return say(params.arguments.text);
  if (params.name === "steps") {
    for (const progress of [1, 2, 3]) {
      const told = { progressToken: params._meta.progressToken, progress, total: 3 };
      await extra.sendNotification({ method: "notifications/progress", params: told });
    }
    return say("done");
  }
  const question = { message: "Who?", requestedSchema: schema({ name: text }) };
  const answer = await extra.sendRequest({ method: "elicitation/create", params: question }, ElicitResultSchema);
  return say(`hello ${answer.content.name}`);
});
await server.connect(new StdioServerTransport());
