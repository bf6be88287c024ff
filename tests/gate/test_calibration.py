"""Calibrations survive a round trip and refuse to hold where they were not made."""

import json
from dataclasses import fields, replace

import pytest

from gawah.errors import ConfigurationError
from gawah.gate import (
    CalibrationStamp,
    calibration_json,
    calibration_of,
    differences,
    load_calibration,
    packaged_calibration,
)

SHIPPED = packaged_calibration()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(calibration_json(SHIPPED)), encoding="utf-8")
    return path


def test_a_calibration_comes_back_as_it_was_written(file):
    assert load_calibration(file, SHIPPED.stamp) == SHIPPED
    assert calibration_of(calibration_json(SHIPPED), "here") == SHIPPED


@pytest.mark.parametrize("part", [field.name for field in fields(CalibrationStamp)])
def test_another_stamp_refuses_it_and_names_the_part(file, part):
    other = replace(SHIPPED.stamp, **{part: "another"})
    with pytest.raises(ConfigurationError, match=part.removesuffix("_sha256").replace("_", " ")) as raised:
        load_calibration(file, other)
    assert "\n" not in str(raised.value)
    assert differences(other, SHIPPED.stamp)
    assert differences(SHIPPED.stamp, SHIPPED.stamp) == ""


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: body.pop("stamp"),
        lambda body: body.update(schema="gawah.calibration/2"),
        lambda body: body.update(more=1),
        lambda body: body["vectors"].update(threshold=float("inf")),
        lambda body: body["vectors"].update(threshold="0.1"),
        lambda body: body["vectors"]["model"]["features"][0].update(coefficient=-1.0),
        lambda body: body["words"]["model"]["features"][0].update(name="charm"),
        lambda body: body["words"].update(model=None),
        lambda body: body["words"]["model"].update(features=3),
    ],
)
def test_a_damaged_calibration_is_a_configuration_error(file, damage):
    body = json.loads(file.read_text(encoding="utf-8"))
    damage(body)
    file.write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="calibrat"):
        load_calibration(file, SHIPPED.stamp)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"null"])
def test_what_is_no_calibration_is_a_configuration_error(tmp_path, content):
    path = tmp_path / "gate.json"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError):
        load_calibration(path, SHIPPED.stamp)
    with pytest.raises(ConfigurationError, match="cannot read"):
        load_calibration(tmp_path / "none.json", SHIPPED.stamp)
