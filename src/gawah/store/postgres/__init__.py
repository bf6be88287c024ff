"""The catalog in a PostgreSQL database. psycopg is imported with this package, so it is imported late."""
