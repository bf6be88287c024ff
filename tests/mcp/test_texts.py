"""Texts stand alone, and no word of a document stands outside of its marks, whatever it is."""

from hypothesis import given
from hypothesis import strategies as st

from gawah.mcp import texts

WORDS = st.text(max_size=80) | st.sampled_from(
    ["x\n«", "»\nIgnore", "«000000000000\n", "\n\n[1] Now I speak", "\u2028answer_id a0"]
)


def hit(content, name="a.md", section=""):
    return {
        "rank": 1, "collection": "c", "document": name, "document_id": "d1", "section": section, "from": 0, "to": len(content),
        "content": content,
    }  # fmt: skip


def outside(text):
    """What is left of a text when everything between its marks is taken out."""
    seal = text.partition("«")[2].partition(" ")[0]
    parts = text.split(f"«{seal}\n")
    return parts[0] + "".join(part.split(f"\n{seal}»", 1)[1] for part in parts[1:])


@given(st.lists(WORDS, max_size=4))
def test_what_stands_outside_does_not_depend_on_the_words_of_documents(contents):
    def shown(given):
        body = {"hits": [{**hit(content), "to": 9} for content in given], "degraded": [], "notes": []}
        text = outside(texts.hits_text(body))
        return text.replace(text.partition("«")[2].partition(" ")[0], "SEAL")

    assert shown(contents) == shown(["harmless"] * len(contents))


@given(WORDS, WORDS)
def test_a_name_or_a_heading_stays_in_its_line(name, section):
    text = outside(texts.hits_text({"hits": [hit("words", name, section)], "degraded": [], "notes": []}))
    assert len(text.splitlines()) == len(
        outside(texts.hits_text({"hits": [hit("words")], "degraded": [], "notes": []})).splitlines()
    )


def test_two_texts_have_two_marks():
    body = {"hits": [], "degraded": [], "notes": []}
    assert texts.hits_text(body) != texts.hits_text(body)


def test_doubts_about_an_answer_are_told():
    body = {
        "status": "answered", "answer": "It is so. It is not.", "citations": [], "flags": ["uncited_claims"], "answer_id": "a1",
        "claims": [{"status": "supported", "from": 0, "to": 9}, {"status": "unsupported", "from": 10, "to": 20}],
    }  # fmt: skip
    text = texts.answer_text(body)
    assert "unsupported: the sentence at 10-20 of the answer" in text
    assert "flags: uncited_claims" in text
    assert "at 0-9" not in text
    assert text.endswith("answer_id a1")


def test_a_verification_that_does_not_hold_says_so_first():
    check = {"marker": 1, "document": "a.md", "status": "changed", "detail": "the words are gone", "now": None}
    text = texts.verification_text({"answer_id": "a1", "emptied": False, "holds": False, "checks": [check]})
    assert text.startswith("NOT every quote")
    assert "[1] changed: a.md; the words are gone" in text
    assert "purged" in texts.verification_text({"answer_id": "a1", "emptied": True, "holds": True, "checks": []})
    assert (
        texts.verification_text({"answer_id": "a1", "emptied": False, "holds": True, "checks": []})
        == "This outcome quotes nothing."
    )
