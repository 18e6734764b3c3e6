"""The commands about cards: `toolwire card …`."""
