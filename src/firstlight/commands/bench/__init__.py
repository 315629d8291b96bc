"""Bench: a user's own programs, measured like variants: what is asked, what it becomes, and how it is carried out."""
