"""The terminal conversation of `toolwire chat`: its command, its loop, its screen; none of it decides for the agent."""
