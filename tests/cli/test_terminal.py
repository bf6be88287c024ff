"""What is printed for people steers no terminal, and what is printed as JSON means what it meant."""

import json
import unicodedata

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gawah.cli.entry import group
from gawah.cli.terminal import print_json, say, say_text, visible, visible_line

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
STEERING = st.sampled_from("\x1b\x9b\x07\x08\r\x00\x7f\u202e\u2066\u2028\udc9b\ud800")
OVERRIDES = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def steers(character):
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in OVERRIDES


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x9b31m", "\\x9b31m"),
        ("invoice\u202egpj.exe", "invoice\\u202egpj.exe"),
        ("caf\udce9.txt", "caf\\xe9.txt"),
        ("half \ud83d", "half \\ud83d"),
        ("a\rb\x7f", "a␍b␡"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("می\u200cخواهم क्\u200dष \u200fא", "می\u200cخواهم क्\u200dष \u200fא"),
    ],
)
def test_worked_examples(raw, shown):
    assert visible(raw) == shown


@given(st.lists(ANY_TEXT | STEERING).map("".join))
def test_nothing_that_steers_is_left_and_the_rest_is_as_it_was(text):
    shown = visible(text)
    assert not [c for c in shown if steers(c) and c not in "\t\n"]
    assert not [c for c in visible_line(text) if steers(c)]
    assert visible(shown) == shown
    if not any(steers(c) and c not in "\t\n" for c in text):
        assert shown == text
    shown.encode("utf-8")


def test_a_name_cannot_make_a_line_of_its_own(capsys):
    say("failed  a\nready  1  default  nothing.md\t: reason")
    assert capsys.readouterr().out == "failed  a␊ready  1  default  nothing.md␉: reason\n"


@pytest.mark.parametrize(("text", "printed"), [("a\nb", "a\nb\n"), ("a\n", "a\n"), ("", "\n"), ("x\x1by\n", "x␛y\n")])
def test_text_of_several_lines_ends_in_a_line_feed(capsys, text, printed):
    say_text(text)
    assert capsys.readouterr().out == printed


@given(
    value=st.recursive(
        ANY_TEXT | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner)
    )
)
def test_json_means_the_same_and_steers_nothing(value):
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        print_json(value)
    printed = out.getvalue()
    assert json.loads(printed) == json.loads(json.dumps(value))
    assert not [c for c in printed if steers(c) and c != "\n"]


HOSTILE_NAME = "red\x1b[31m\u202e\nready 9 default fake.md"
HOSTILE_TEXT = "The lamp\x9b2J of the \x1b]0;title\x07 pier\u202e burns green oil.\n"


def test_every_command_is_safe_on_a_hostile_corpus(tmp_path, cache):
    """Through the real commands, in this process: a process for each would cost a second apiece."""
    environment = {"XDG_CACHE_HOME": str(cache), "GAWAH_STORE": str(tmp_path / "store")}
    name = HOSTILE_NAME + ".md"
    root = tmp_path / "docs"
    root.mkdir()
    (root / name).write_text("# Lamp\x9b5m \u202etitle\n\n" + HOSTILE_TEXT, encoding="utf-8")
    (root / "bad\x1b[2J.bin").write_bytes(bytes(range(256)) * 8)

    def gawah(*words, code=0):
        done = CliRunner().invoke(group, [str(word) for word in words], env=environment, standalone_mode=False)
        assert (done.return_value or 0) == code, (words, done.exception)
        for printed in (done.stdout, done.stderr):
            assert not [c for c in printed if steers(c) and c not in "\t\n"], (words, printed)
            assert not [line for line in printed.splitlines() if line.startswith("ready 9")]
        return done

    question = "What oil does the lamp of the pier burn?\x1b[2J\x9b"
    gawah("ingest", root, "--dry-run")
    gawah("ingest", root, code=4)
    answer_id = json.loads(
        gawah("ask", question, "--json", "--set", "gate=reference", "--set", "gate_threshold=2").stdout
    )["answer_id"]
    assert "burns green oil" in gawah("show", answer_id).stdout
    gawah("ask", question, "--set", "gate=reference", "--set", "gate_threshold=0", code=3)
    assert json.loads(gawah("show", name, "--json").stdout)["name"] == name
    for words in (
        ("ls",),
        ("ls", "--json"),
        ("search", question),
        ("show", name),
        ("show", name, "--chunks"),
        ("verify",),
    ):
        gawah(*words)
    gawah("chunk", root / name)


def test_what_click_and_the_errors_say_is_safe_too(gawah):
    for words in (("nothing\x1b[2J",), ("ls", "--x\x9b\u202e")):
        assert not [c for c in gawah(*words, code=2).stderr.decode("utf-8") if steers(c) and c != "\n"]
    assert not [
        c for c in gawah("ls", "--store", "a\x1b\u202e", code=1).stderr.decode("utf-8") if steers(c) and c != "\n"
    ]
