"""The published schemas and the codec take and refuse the same payloads."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from beforehand.messages.values import instant

WIRE = Path(__file__).parents[1] / "data" / "wire"
SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schemas"
GOOD = [case for case in json.loads((WIRE / "good.json").read_text()) if "payload" in case]
BAD = [case for case in json.loads((WIRE / "bad.json").read_text()) if "payload" in case]
# What a schema of one field at a time cannot say; only the codec refuses it.
BEYOND_A_SCHEMA = {
    "seq without epoch",
    "epoch without seq",
    "step twice",
    "feedback about nothing",
    "used without packet",
    "envelope with broken base64",
    "envelope with base64 that is no object",
}
FORMATS = FormatChecker(formats=())
FORMATS.checks("date-time", raises=ValueError)(lambda value: not isinstance(value, str) or bool(instant(value)))


def validator(case):
    name = "cloudevent" if "specversion" in case["payload"] else case["channel"]
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return Draft202012Validator(schema, format_checker=FORMATS)


@pytest.mark.parametrize("case", GOOD, ids=[case["name"] for case in GOOD])
def test_a_good_message_is_good_by_its_schema(case):
    validator(case).validate(case["payload"])


@pytest.mark.parametrize("case", BAD, ids=[case["name"] for case in BAD])
def test_a_bad_message_is_bad_by_its_schema_where_a_schema_can_say_so(case):
    assert validator(case).is_valid(case["payload"]) is (case["name"] in BEYOND_A_SCHEMA)


def test_what_is_beyond_a_schema_is_still_refused_by_the_codec():
    assert {case["name"] for case in BAD} >= BEYOND_A_SCHEMA
