"""Hundreds of patterns found in one pass: Hyperscan, compiled once and made safe for threads."""
