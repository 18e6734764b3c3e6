"""The programs that are measured, one SDK each, run by the interpreter that has it; beside it they need only Python."""
