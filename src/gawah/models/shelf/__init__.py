"""Models on this machine: which are known, where they lie, how they are fetched, and whether their bytes are still the same.

A fetched model is a folder below `<cache>/models` with its files and a manifest of their hashes. Hashes that are known from
elsewhere are pinned; the others are those that were received first: trust on first use.
"""
