"""The store: SQLite as the only source of truth. All SQL of gawah is in this package."""
