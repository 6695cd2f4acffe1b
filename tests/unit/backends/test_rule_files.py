import pytest

from beforehand import limits
from beforehand.backends import rule_files
from beforehand.errors import NotFound, RuleError

PACK = "name: mine\nversion: 1\ndescription: x\nrules: [{name: a, description: x, when: step.mutates, message: x}]\n"


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(PACK)
    (tmp_path / "mine.cases.yaml").write_text("cases: []")
    return file


def test_packs_are_loaded_by_name_and_by_path_in_order(mine):
    assert [pack.name for pack in rule_files.load([str(mine), "core"])] == ["mine", "core"]


def test_cases_are_no_packs(mine):
    assert rule_files.packs_in(mine.parent) == [mine]
    assert rule_files.cases_of(mine).name == "mine.cases.yaml"


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(NotFound, match=r"no shipped rule pack 'cor'.*core"):
        rule_files.load(["cor"])


def test_a_path_to_nothing_is_named():
    with pytest.raises(NotFound, match=r"no rule pack ./nothing.yaml"):
        rule_files.load(["./nothing.yaml"])


def test_the_same_pack_twice_is_refused(mine):
    with pytest.raises(RuleError, match="'mine' is loaded already"):
        rule_files.load([str(mine), str(mine)])


def test_a_pack_with_a_mistake_is_refused_with_its_line(mine):
    mine.write_text(PACK.replace("version: 1", "version: x"))
    with pytest.raises(RuleError, match=r"mine.yaml:2: "):
        rule_files.load([str(mine)])


def test_a_file_that_cannot_be_read_is_an_error_of_the_pack(tmp_path):
    with pytest.raises(RuleError, match="cannot be read"):
        rule_files.content(tmp_path)


def test_no_more_of_a_huge_file_is_read_than_it_takes_to_refuse_it(tmp_path):
    file = tmp_path / "huge.yaml"
    file.write_bytes(b"x" * (limits.PACK_BYTES * 3))
    assert len(rule_files.content(file)) == limits.PACK_BYTES + 1
