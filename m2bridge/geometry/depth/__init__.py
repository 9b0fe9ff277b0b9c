"""Dimension and identifiability of attention networks of any depth."""
