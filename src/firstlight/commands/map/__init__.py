"""Map: place ranks so that their messages share as few links as possible, and write files with this placement."""
