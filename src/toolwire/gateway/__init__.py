"""The face that publishes agents: who may come in, which agents there are, and the message service between them."""
