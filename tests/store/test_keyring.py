"""API keys as rows: what is kept, who is recognised, and for how long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import NotFoundError, UsageError
from gawah.store.keyring import KeyRing


@pytest.fixture
def ring(any_catalog):
    return KeyRing(any_catalog)


def test_a_token_opens_until_its_key_expires_or_is_revoked(ring, clock):
    key, token = ring.create("page", scopes=["ask", "read"], collections=["a", "b", "a"], lifetime_s=60)
    assert (key.scopes, key.collections) == (("read", "ask"), ("a", "b"))
    assert ring.recognise(token) == key
    clock.now += 61
    assert ring.recognise(token) is None
    other, lasting = ring.create("page", scopes=["admin"])
    assert ring.recognise(lasting) == other
    with pytest.raises(NotFoundError):
        ring.revoke("page")  # two are named so
    ring.revoke(other.id)
    assert ring.recognise(lasting) is None
    assert [ring.works(one) for one in ring.all()] == [False, False]


def test_scopes_that_do_not_exist_and_none_at_all_are_refused(ring):
    for scopes in ([], ["write"]):
        with pytest.raises(UsageError):
            ring.create("x", scopes=scopes)


def test_no_other_token_is_recognised(ring):
    key, token = ring.create("x", scopes=["read"])

    @given(
        st.text(max_size=80)
        | st.text(max_size=60).map(lambda end: f"gawah_{key.id}_{end}")
        | st.integers(0, len(token) - 1).map(lambda i: token[:i])
    )
    def look(other):
        if other != token:
            assert ring.recognise(other.encode("utf-8", "replace").decode()) is None

    look()


def test_tokens_never_repeat(ring):
    assert len({ring.create("x", scopes=["read"])[1] for _ in range(20)}) == 20
