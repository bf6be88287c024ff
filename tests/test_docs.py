"""Docs and code hold each other: what is there is documented, what is documented is there."""

import json
import re
from pathlib import Path

import pytest

from gawah.cli.entry import group
from gawah.config import Settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(group.commands))
def test_every_command_is_in_the_readme(command):
    assert f"gawah {command}" in README


def test_every_command_the_readme_names_exists():
    named = set(re.findall(r"^(?:\$ )?gawah ([a-z]+)", README, re.MULTILINE)) | set(
        re.findall(r"`gawah ([a-z]+)", README)
    )
    assert named <= set(group.commands)


def test_the_settings_page_is_the_settings():
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]*\| (.+) \|$", SETTINGS, re.MULTILINE))
    assert rows == {name: field.description for name, field in Settings.model_fields.items()}


def test_the_settings_page_has_the_defaults():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", SETTINGS, re.MULTILINE))
    homes = {"store", "cache"}  # they depend on who runs it
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = "" if default is None or name == "openai_key" else str(default)
        assert name in homes or rows[name].strip("` ") == shown, name


def test_the_tools_page_is_the_tools():
    from gawah.mcp.tools import TOOLS

    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.MULTILINE))
    assert rows == {tool.name: tool.scope for tool in TOOLS}
    for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL):
        (server,) = json.loads(block)["mcpServers"].values()
        assert server.get("args", ["mcp"])[0] == "mcp" or server["url"].endswith("/mcp")


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"], ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)`", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_routes_page_is_the_api():
    pytest.importorskip("fastapi")
    from gawah.api.server import ROUTERS

    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| (GET|POST|DELETE|PUT|PATCH) \| `([^`]+)` \|", page, re.MULTILINE))
    served = {
        (method, route.path)
        for router in ROUTERS
        for route in router.routes
        if route.include_in_schema
        for method in route.methods
    }
    assert documented == served
