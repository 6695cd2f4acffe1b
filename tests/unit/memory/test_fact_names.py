from beforehand.index.segmentation import name_words
from beforehand.memory.claims import folded
from beforehand.memory.fact_names import FactNames


def names(*keys):
    known = FactNames()
    for subject, attribute in keys:
        known.claimed(folded(subject, attribute, ""))
    return known


def meant(known, goal="", needs=()):
    return [key[:2] for key in known.meant(name_words(goal), tuple(map(name_words, needs)))]


def test_a_goal_that_has_all_words_of_an_attribute_means_it():
    known = names(("ana", "travel budget"), ("ana", "home address"))
    assert meant(known, "stay within the travel budget") == [("ana", "travel budget")]
    assert meant(known, "plan the travel") == []


def test_a_need_is_made_of_words_of_attribute_and_subject():
    known = names(("user", "budget"), ("ana", "seat preference"))
    assert meant(known, needs=["budget"]) == [("user", "budget")]
    assert meant(known, needs=["user_budget"]) == [("user", "budget")]
    assert meant(known, needs=["seat"]) == [("ana", "seat preference")]
    assert meant(known, needs=["user"]) == []


def test_a_need_that_names_another_subject_means_nothing():
    known = names(("user ana", "id"), ("flight HAT204", "id"))
    assert meant(known, needs=["flight_id"]) == [("flight hat204", "id")]


def test_of_many_subjects_those_that_the_goal_names_come_first_then_those_claimed_last():
    known = names(*((f"order W{number}", "status") for number in range(40)), ("order W1", "status"))
    assert meant(known, "is it sent", ["status"])[:3] == [
        ("order w1", "status"),
        ("order w39", "status"),
        ("order w38", "status"),
    ]
    assert meant(known, "is W37 sent", ["status"])[:2] == [("order w37", "status"), ("order w1", "status")]


def test_an_attribute_of_common_words_alone_is_meant_by_no_goal():
    assert meant(names(("door", "is")), "the door is open") == []
