"""OAuth 2.1 for people's MCP clients: who may call which agents because an owner said so in a browser."""
