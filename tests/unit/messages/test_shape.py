"""What a field may hold, in words."""

import pytest

from beforehand.messages import shape
from beforehand.messages.inbound import Event, Feedback, Plan, Question
from beforehand.messages.outbound import CumulativeReceipt


@pytest.mark.parametrize(
    ("model", "place", "words"),
    [
        (Event, ("kind",), "one of message, action, observation, reflection, note"),
        (Event, ("ok",), "true or false"),
        (Event, ("data",), "any JSON"),
        (Event, ("args",), "an object"),
        (Event, ("at",), "RFC 3339 with an offset"),
        (Event, ("importance",), "a number from 0 to 1"),
        (Event, ("facts",), "a list of at most 256 objects"),
        (Event, ("facts", 3, "subject"), "non-empty text of at most 512 characters"),
        (Plan, ("steps", 0, "id"), "non-empty text of at most 128 bytes in UTF-8"),
        (Feedback, ("outcome",), "one of success, failure or a number from 0 to 1"),
        (Feedback, ("metrics", "cost"), "a number"),
        (Question, ("window", "last"), "an integer from 1 to 1000000"),
        (CumulativeReceipt, ("missing", 0), "a list of 2 (an integer from 1)"),
    ],
)
def test_a_field_in_words(model, place, words):
    _, form = shape.find(model, place)
    assert shape.words(form, shape.schema(model)) == words


def test_what_pydantic_adds_to_a_place_is_left_out_of_the_name():
    assert shape.find(Feedback, ("outcome", "literal['success','failure']"))[0] == "outcome"
    assert shape.find(Plan, ("steps", 3, "id"))[0] == "steps.3.id"


def test_the_model_itself_has_no_name_and_no_form():
    assert shape.find(Event, ()) == ("", None)


def test_advice_says_whether_a_field_may_be_left_out():
    _, kind = shape.find(Event, ("kind",))
    _, seq = shape.find(Event, ("seq",))
    assert not shape.advice(Event, kind, optional=shape.optional(Event, ("kind",))).endswith("leave it out")
    assert shape.advice(Event, seq, optional=shape.optional(Event, ("seq",))).endswith("or leave it out")


def test_every_field_of_every_inbound_message_has_a_meaning():
    for model in (Event, Plan, Question, Feedback):
        for name, form in shape.schema(model)["properties"].items():
            assert form.get("description"), name
