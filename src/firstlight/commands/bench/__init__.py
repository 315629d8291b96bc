"""Measure a user's own programs like variants: read the request, plan it, and execute it as a run."""
