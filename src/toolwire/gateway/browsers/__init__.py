"""Browsers in which an owner is signed in: their sessions, the cookie that carries one, and the routes about them."""
