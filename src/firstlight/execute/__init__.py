"""Build programs and launch them."""
