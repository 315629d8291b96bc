"""Mapping: which rank stands where, so that messages share links as little as can be; and the files that say so."""
