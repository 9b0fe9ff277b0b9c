"""Strata of one layer: rank types, dimensions, closures, fibres, and what certifies them."""
