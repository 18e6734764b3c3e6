"""Submit, follow, cancel: the life of a call between the surfaces and the providers."""
