"""People as judges of painted pictures, from a table of what they said."""

import pytest

from gnomon.errors import GnomonError
from gnomon.paint.factory import open_judge
from gnomon.paint.records import Painted
from gnomon.records import Item

ITEM = Item(
    id="1",
    form="scene",
    text="A cup and a jug.",
    choices=("larger", "smaller"),
    gold=("smaller",),
    tags={"thing_a": "cup", "thing_b": "jug"},
)


def said(tmp_path, rows, number=0):
    file = tmp_path / "said.csv"
    file.write_text("item,picture,choice\n" + "\n".join(rows) + "\n")
    judge = open_judge(f"people:{file}", {})
    painted = Painted(item="1", number=number, prompt="", seed=0)
    return judge.look(ITEM, painted, None)


def test_more_than_half_of_the_people_decide(tmp_path):
    found = said(tmp_path, ["1,0,smaller", "1,0,smaller", "1,0,larger"])
    assert found.choice == 1
    assert found.scores == pytest.approx((1 / 3, 2 / 3))
    assert said(tmp_path, ["1,0,smaller", "1,0,larger"]).choice is None


def test_people_who_cannot_tell_leave_it_open(tmp_path):
    assert said(tmp_path, ["1,0,", "1,0,", "1,0,larger"]).seen["abstains"] == "people cannot tell"
    assert said(tmp_path, ["1,1,larger"]).seen["abstains"] == "nobody has judged it"
    assert said(tmp_path, ["1,0,huge"]).choice is None


def test_each_picture_has_its_own_verdict(tmp_path):
    rows = ["1,0,smaller", "1,1,larger"]
    assert said(tmp_path, rows, 0).choice == 1
    assert said(tmp_path, rows, 1).choice == 0


def test_a_table_without_its_columns_or_numbers_is_refused(tmp_path):
    with pytest.raises(GnomonError, match="not a number"):
        said(tmp_path, ["1,first,larger"])
    file = tmp_path / "other.csv"
    file.write_text("id,answer\n1,larger\n")
    with pytest.raises(GnomonError):
        open_judge(f"people:{file}", {})
