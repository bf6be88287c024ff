"""gawah as tools of a language model (Model Context Protocol): parse, call, say. Needs the extra `mcp`."""
