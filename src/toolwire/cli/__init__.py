"""The command line. `main` holds the commands' names; each command's module is imported when it is used."""
