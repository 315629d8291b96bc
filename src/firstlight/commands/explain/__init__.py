"""`explain`: show how a figure came about."""
