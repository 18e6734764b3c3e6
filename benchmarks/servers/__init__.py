"""The echo servers under test, one module each; nothing here is imported by the benchmark itself."""
