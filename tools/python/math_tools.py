"""Demo tools: plain functions, called with the tool's arguments by name."""


def add(a, b):
    """Adds two numbers."""
    return a + b
