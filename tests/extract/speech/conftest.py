import pytest
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def recordings():
    return ROOT / "examples" / "recordings"
