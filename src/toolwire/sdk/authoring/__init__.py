"""A function as a tool: its hints, its schema, its call; nothing here knows of agents."""
