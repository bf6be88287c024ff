"""gawah over HTTP: parse, call, say. Needs the extra `server`; `gawah.api.server` is where it starts."""
