"""Every change and every removal is told once, whatever comes between two looks."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gawah.api.access import DoorPolicy
from gawah.api.jobs import Changes
from gawah.api.served import Served

STEPS = st.lists(st.one_of(st.tuples(st.sampled_from("+-"), st.integers(0, 4)), st.just(("look", 0))), max_size=24)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_who_looks_knows_what_is_there(make_app, steps, tmp_path_factory):
    app = make_app(str(tmp_path_factory.mktemp("changes") / "store"))
    app.catalog.generation_for(app.embedder.stamp)
    store = Served(app, DoorPolicy(loopback=True))
    watched = Changes(store)
    app.catalog.enqueue([("c", "0.txt", "file:///0.txt")])
    watched.begin()
    known = there = {"0.txt"}
    for kind, number in [*steps, ("look", 0)]:
        name = f"{number}.txt"
        if kind == "+":
            app.catalog.enqueue([("c", name, f"file:///{name}")])
            there = there | {name}
        elif kind == "-":
            app.catalog.delete_documents([record.no for record in app.documents() if record.name == name])
            there = there - {name}
        else:
            changed, gone = watched.look()
            names = {name for _, name in gone.values()}
            assert not names & there
            assert names <= known
            known = (known | {record.name for record in changed}) - names
            assert known == there
    store.close()
