"""Where tasks live: their state, events and content, and the store beneath; it asks no model and runs no tool."""
