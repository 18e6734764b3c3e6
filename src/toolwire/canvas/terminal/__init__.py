"""One terminal, in its parts: the process on its PTY, what it prints, and the shell that runs commands in it."""
