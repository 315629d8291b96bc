"""`explain`: how a figure came about."""
