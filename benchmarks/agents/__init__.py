"""Measures the agent SDK beside its peers, with scripted models; what is measured runs in processes of their own."""
