// Signs in at a server with one of the official TypeScript clients and calls a tool; prints, each as a line of JSON, the
// address that a browser must open, and then the text of the result.
//
//   node oauth.mjs CLIENT URL TOOL ARGUMENTS
//
// CLIENT is v1 or v2. What the browser is sent to is a server of this process.

import { createServer } from "node:http";

const [line, url, tool, given] = process.argv.slice(2);
const first = line === "v1";
const library = first
  ? {
      ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    }
  : await import("@modelcontextprotocol/client");

let arrive;
const arrival = new Promise((resolve) => {
  arrive = resolve;
});
const listener = createServer((request, response) => {
  response.end("thank you");
  if (request.url.startsWith("/callback?")) {
    arrive(new URL(request.url, redirectUrl).searchParams);
  }
});
await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
const redirectUrl = `http://127.0.0.1:${listener.address().port}/callback`;

const kept = {};
const authProvider = {
  redirectUrl,
  clientMetadata: {
    client_name: `TypeScript client ${line}`,
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "a state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (opened) => console.log(JSON.stringify({ open: String(opened) })),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
};

const connect = async (transport) => {
  const client = new library.Client({ name: "oauth", version: "1.0" });
  await client.connect(transport);
  return client;
};
const transport = () => new library.StreamableHTTPClientTransport(new URL(url), { authProvider });

const signing = transport();
const refused = await connect(signing).then(
  () => undefined,
  (error) => error,
);
if (refused === undefined) {
  throw new Error("it was let in without signing in");
}
const answer = await arrival;
if (answer.get("state") !== "a state") {
  throw new Error(`the state came back as ${answer.get("state")}: ${refused}`);
}
await (first ? signing.finishAuth(answer.get("code")) : signing.finishAuth(answer));
const client = await connect(transport());
const result = await client.callTool({ name: tool, arguments: JSON.parse(given) });
console.log(JSON.stringify({ text: result.content[0].text }));
await client.close();
listener.close();
listener.closeAllConnections();
