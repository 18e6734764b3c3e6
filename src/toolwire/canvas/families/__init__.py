"""Our own tools that arrows grant, in families: one for each kind of card that an agent may be joined to."""
