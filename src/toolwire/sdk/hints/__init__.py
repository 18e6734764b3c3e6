"""Type hints, read: which limits they set, which records they name, and their JSON Schema."""
