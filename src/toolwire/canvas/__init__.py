"""The canvas' host: workspaces, card packages, arrows that grant tools, terminals, and the toolbox of every agent."""
