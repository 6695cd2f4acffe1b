"""The AsyncAPI document: valid by its specification, complete, and its examples true."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker

from beforehand.cli.reference import asyncapi, schemas
from beforehand.messages import codec, topics
from beforehand.messages.inbound import BY_CHANNEL
from beforehand.messages.values import instant

ROOT = Path(__file__).parents[2]
DOCUMENT = yaml.safe_load((ROOT / "docs/reference/asyncapi.yaml").read_text())
SPECIFICATION = json.loads((ROOT / "tests/data/asyncapi/asyncapi-3.0.0.schema.json").read_text())
EXAMPLES = [
    (name, example["summary"], example["payload"])
    for name, message in DOCUMENT["components"]["messages"].items()
    for example in message["examples"]
]
FORMATS = FormatChecker(formats=())
FORMATS.checks("date-time", raises=ValueError)(lambda value: not isinstance(value, str) or bool(instant(value)))


def faults(document):
    return [error.message for error in Draft7Validator(SPECIFICATION).iter_errors(document)]


def resolved(document, pointer):
    here = document
    for part in pointer.removeprefix("#/").split("/"):
        here = here[part.replace("~1", "/").replace("~0", "~")]
    return here


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def dangling(document):
    found = []
    for reference in set(references(document)):
        try:
            resolved(document, reference)
        except (KeyError, TypeError):
            found.append(reference)
    return found


def test_the_document_is_valid_asyncapi():
    assert faults(DOCUMENT) == []


def test_every_reference_leads_somewhere():
    assert len(set(references(DOCUMENT))) > 20
    assert dangling(DOCUMENT) == []


def test_the_checks_find_a_broken_document():
    wrong = copy.deepcopy(DOCUMENT)
    wrong["operations"]["receiveEvent"]["action"] = "listen"
    wrong["operations"]["receivePlan"]["channel"]["$ref"] = "#/channels/plans"
    assert faults(wrong)
    assert dangling(wrong) == ["#/channels/plans"]


def test_every_channel_of_the_contract_is_there_with_its_binding():
    addresses = {name: channel["address"] for name, channel in DOCUMENT["channels"].items()}
    assert {name for name in addresses if name in topics.CHANNELS} == set(BY_CHANNEL)
    bindings = {
        operation["channel"]["$ref"].rpartition("/")[2]: operation["bindings"]["mqtt"]
        for operation in DOCUMENT["operations"].values()
    }
    assert bindings.keys() == addresses.keys()
    assert {binding["qos"] for binding in bindings.values()} == {1}
    assert {name for name, binding in bindings.items() if binding["retain"]} == {"plan", "packet", "status"}


def test_every_parameter_of_an_address_is_described():
    for channel in DOCUMENT["channels"].values():
        named = {part[1:-1] for part in (channel["address"] or "").split("/") if part.startswith("{")}
        assert named == set(channel.get("parameters", {}))


def test_the_addresses_are_those_that_the_daemon_uses():
    scope = topics.Scope("acme", "agent-1", "run-1")
    filled = {"tenant": "acme", "agent": "agent-1", "run": "run-1", "step": "s3", "name": "main"}
    for name, channel in DOCUMENT["channels"].items():
        if channel["address"] is not None:
            used = {"packet": topics.of_packet(scope, "s3"), "status": topics.of_status("main")}
            assert channel["address"].format(**filled) == used.get(name, topics.of_run(scope, name))


@pytest.mark.parametrize(("name", "shows", "payload"), EXAMPLES, ids=[f"{e[0]}: {e[1]}" for e in EXAMPLES])
def test_an_example_is_valid_by_its_schema(name, shows, payload):
    pointer = DOCUMENT["components"]["messages"][name]["payload"]["$ref"]
    schema = {"$ref": pointer, "components": DOCUMENT["components"]}
    Draft7Validator(schema, format_checker=FORMATS).validate(payload)


@pytest.mark.parametrize(("name", "shows", "payload"), EXAMPLES, ids=[f"{e[0]}: {e[1]}" for e in EXAMPLES])
def test_an_example_is_valid_by_its_model(name, shows, payload):
    if name in schemas.MODELS and name not in BY_CHANNEL:
        message = schemas.MODELS[name].model_validate_json(json.dumps(payload))
        assert json.loads(codec.write(message)) == payload
        return
    channel = "event" if name == "cloudevent" else name
    address = topics.Address(topics.Scope("acme", "agent-1", "run-1"), channel)
    entry = codec.read(address, json.dumps(payload).encode(), received_us=0, arrival_id="arrival")
    assert entry.unknown_fields == 0


def test_every_message_has_an_example():
    assert {name for name, _, _ in EXAMPLES} == set(DOCUMENT["components"]["messages"])


@pytest.mark.parametrize("path", sorted((ROOT / "docs/reference/schemas").glob("*.json")), ids=lambda path: path.name)
def test_a_schema_file_is_valid_and_so_are_its_examples(path):
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:beforehand:v1:{path.name.removesuffix('.schema.json')}"
    assert schema["examples"]
    assert dangling(schema) == []
    for example in schema["examples"]:
        Draft202012Validator(schema, format_checker=FORMATS).validate(example)


def test_writing_the_document_twice_gives_the_same_text():
    assert asyncapi.rendered() == asyncapi.rendered()
