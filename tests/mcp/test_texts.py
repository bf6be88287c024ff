"""Texts stand alone, and no word of a document stands outside of its marks, whatever it is."""

import re

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
    """What is left of a text when everything between its marks is taken out, and its seal is called SEAL."""
    seal = re.search("«([0-9a-f]{12}) and", text)[1]
    notice = re.search("What stands between .*", text)[0]
    rest = text.replace(notice, "NOTICE")
    return re.sub(rf"«{seal}(?P<gap>[ \n]).*?(?P=gap){seal}»", "QUOTED", rest, flags=re.DOTALL).replace(seal, "SEAL")


@given(st.lists(WORDS, max_size=4))
def test_what_stands_outside_does_not_depend_on_the_words_of_documents(contents):
    def shown(given):
        body = {"hits": [{**hit(content), "to": 9} for content in given], "degraded": [], "notes": []}
        return outside(texts.hits_text(body))

    assert shown(contents) == shown(["harmless"] * len(contents))


@given(WORDS, WORDS)
def test_no_word_of_a_name_or_a_heading_stands_outside(name, section):
    def shown(name, section):
        return outside(texts.hits_text({"hits": [hit("words", name, section)], "degraded": [], "notes": []}))

    assert shown(name, section or "-") == shown("a.md", "Fees")


@given(WORDS, WORDS, WORDS)
def test_nor_does_one_of_a_place_a_collection_or_a_source(name, collection, place):
    def shown(name, collection, place):
        source = {
            "document": name,
            "collection": collection,
            "label": place,
            "from": 0,
            "to": 1,
            "n_chars": 1,
            "changed": False,
        }
        counted = {"name": collection, "n_documents": 1, "n_chunks": 1, "states": {}}
        check = {"marker": 1, "document": name, "status": "ok", "detail": ""}
        citation = {
            **source, "marker": 1, "locator": place, "document_id": "d", "url": "u", "quote": name,
        }  # fmt: skip
        answer = {
            "status": "answered",
            "answer": place,
            "citations": [citation],
            "flags": [],
            "answer_id": "a1",
            "claims": [],
        }
        return [
            outside(one)
            for one in (
                texts.source_text({**source, "text": name}),
                texts.collections_text({"collections": [counted]}),
                texts.verification_text({"answer_id": "a1", "emptied": False, "holds": True, "checks": [check]}),
                texts.answer_text(answer),
            )
        ]

    assert shown(name, collection, place or "-") == shown("a.md", "c", "page 1")


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
    assert re.search("\\[1\\] changed: «[0-9a-f]{12} a.md [0-9a-f]{12}»; the words are gone", text)
    assert "purged" in texts.verification_text({"answer_id": "a1", "emptied": True, "holds": True, "checks": []})
    assert (
        texts.verification_text({"answer_id": "a1", "emptied": False, "holds": True, "checks": []})
        == "This outcome quotes nothing."
    )
