"""The judge by boxes: what it decides, and when it abstains."""

import pytest
from msgspec.structs import replace

from gnomon.errors import GnomonError
from gnomon.paint.judges.boxes import RULES, BoxJudge, boxes_judge
from gnomon.paint.judges.trials import vote
from gnomon.paint.records import (
    FoundThing,
    JudgeVerdict,
    Painted,
    ThingsFound,
    TrueThing,
    Truth,
    asked_of,
)
from gnomon.records import Item
from gnomon.vision.detection import Box, Detection

PIXELS = pytest.importorskip("PIL.Image").new("RGB", (200, 100))
PAINTED = Painted(item="1", number=0, prompt="", seed=0, file="a.png", sha256="0" * 64)


def scene(*choices, gold=None, first="man", second="car"):
    return Item(
        id="1",
        form="scene",
        text="A man drives the car.",
        choices=choices,
        gold=(gold or choices[0],),
        tags={"thing_a": first, "thing_b": second},
    )


class Fixed:
    """A detector that always finds the same."""

    def __init__(self, *found, labels=("person", "car", "dog")):
        self.found, self.labels = list(found), labels

    def find(self, picture, names=()):
        return self.found


class Flat:
    """A depth map that is near on the left and far on the right."""

    def __init__(self, *, far_is_large=True):
        self.far_is_large = far_is_large

    def distances(self, picture):
        import numpy as np

        near_to_far = np.tile(np.linspace(1, 4, 100, dtype=np.float32), (50, 1))
        return near_to_far if self.far_is_large else 1 / near_to_far


MAN = Detection("person", 0.9, Box(0.1, 0.2, 0.2, 0.5))
CAR = Detection("car", 0.8, Box(0.6, 0.2, 0.7, 0.5))
PLACES = ("inside", "above", "below", "beside")


def judged(judge, item, truth=None):
    return judge.look(item, replace(PAINTED, truth=truth), PIXELS)


def test_what_a_detector_sees_decides_by_the_rule():
    found = judged(BoxJudge(RULES["paper"], Fixed(MAN, CAR)), scene(*PLACES))
    assert found.choice == PLACES.index("beside")
    assert found.seen["rule"] == "paper"
    assert found.seen["things"]["man"]["box"] == [0.1, 0.2, 0.2, 0.5]


def test_a_thing_that_is_not_seen_is_named_and_the_judge_abstains():
    found = judged(BoxJudge(RULES["paper"], Fixed(MAN)), scene(*PLACES))
    assert found.choice is None
    assert found.seen["abstains"] == "not seen: car"


def test_a_thing_of_which_the_detector_is_not_sure_is_not_seen():
    unsure = Detection("car", 0.1, CAR.box)
    judge = BoxJudge(RULES["paper"], Fixed(MAN, unsure), least=0.2)
    assert judged(judge, scene(*PLACES)).choice is None


def test_two_things_of_one_class_are_two_boxes():
    second = Detection("person", 0.7, Box(0.1, 0.6, 0.2, 0.9))
    item = scene(*PLACES, first="man", second="nurse")
    assert judged(BoxJudge(RULES["paper"], Fixed(MAN)), item).choice is None
    found = judged(BoxJudge(RULES["paper"], Fixed(MAN, second)), item)
    assert PLACES[found.choice] == "above"


def test_one_box_found_twice_is_one_thing():
    again = Detection("person", 0.6, Box(0.1, 0.2, 0.2, 0.49))
    found = judged(BoxJudge(RULES["heim"], Fixed(MAN, again, CAR)), scene("left of", "right of"))
    assert found.choice == 0


def test_a_rule_for_single_things_abstains_where_there_are_more():
    other = Detection("person", 0.6, Box(0.4, 0.2, 0.5, 0.5))
    item = scene("left of", "right of")
    assert judged(BoxJudge(RULES["heim"], Fixed(MAN, other, CAR)), item).choice is None
    assert judged(BoxJudge(RULES["paper"], Fixed(MAN, other, CAR)), item).choice == 0


def test_size_is_area_by_distance_squared_whichever_way_the_depth_map_goes():
    item = scene("larger", "smaller")
    alone = judged(BoxJudge(RULES["paper"], Fixed(MAN, CAR)), item)
    assert alone.choice is None  # both look alike
    for far_is_large in (True, False):
        judge = BoxJudge(RULES["paper"], Fixed(MAN, CAR), Flat(far_is_large=far_is_large))
        assert item.choices[judged(judge, item).choice] == "smaller"


def test_a_distance_that_is_no_number_is_not_used():
    class Blind(Flat):
        def distances(self, picture):
            return super().distances(picture) * float("nan")

    tall = Detection("person", 0.9, Box(0.1, 0.1, 0.2, 0.9))
    item = scene("taller", "shorter")
    found = judged(BoxJudge(RULES["paper"], Fixed(tall, CAR), Blind()), item)
    assert found.choice == 0
    assert "distance" not in found.seen["things"]["man"]


def test_relations_in_depth_are_decided_by_distances():
    item = scene("in front of", "behind")
    judge = BoxJudge(RULES["paper"], Fixed(MAN, CAR), Flat())
    assert item.choices[judged(judge, item).choice] == "in front of"


def test_a_relation_that_no_rule_sees_is_named():
    found = judged(BoxJudge(RULES["paper"], Fixed(MAN, CAR)), scene("facing", "facing away from"))
    assert found.choice is None
    assert found.seen["abstains"].startswith("no rule sees facing")


def test_a_relation_in_a_things_own_frame_is_out_of_reach():
    item = scene("left of", "right of")
    own = Item(
        id="1",
        form="scene",
        text=item.text,
        choices=item.choices,
        gold=item.gold,
        tags={**item.tags, "frame": "own"},
    )
    found = judged(BoxJudge(RULES["paper"], Fixed(MAN, CAR)), own)
    assert found.choice is None
    assert "own" in found.seen["abstains"]


def standing(name, box, distance, visible=1.0):
    return TrueThing(name=name, box=box, visible=visible, distance=distance, size=1, height=1)


def test_the_renderers_own_boxes_need_no_detector():
    truth = Truth(first=standing("man", MAN.box, 4.0), second=standing("car", CAR.box, 2.0))
    judge = boxes_judge(detector="true", depth="true")
    item = scene("larger", "smaller")
    assert item.choices[judged(judge, item, truth).choice] == "larger"
    assert judged(judge, item, None).choice is None
    hidden = Truth(first=standing("man", MAN.box, 4.0, visible=0.0), second=truth.second)
    assert judged(judge, item, hidden).choice is None


def test_true_distances_of_found_boxes_are_refused():
    with pytest.raises(GnomonError, match="detector=true"):
        boxes_judge(detector="ssd", depth="true")


def test_the_item_must_name_two_things():
    item = Item(id="1", form="scene", text="?", choices=("above", "below"), gold=("above",))
    assert judged(BoxJudge(RULES["paper"], Fixed(MAN, CAR)), item).choice is None


def test_names_that_are_not_strings_of_a_detector_do_no_harm():
    item = scene(*PLACES, first="../../etc/passwd\n{0}", second="car" * 5000)
    found = judged(BoxJudge(RULES["paper"], Fixed(MAN, CAR)), item)
    assert found.choice is None


def verdict(choice):
    return JudgeVerdict(choice, (), {})


def test_the_majority_of_the_pictures_decides_and_scores_are_smoothed_shares():
    item = scene("above", "below")
    found = vote(item, [PAINTED] * 3, [verdict(0), verdict(0), verdict(1)])
    assert found.choice == "above"
    assert found.scores == (2.5 / 4, 1.5 / 4)


def test_an_even_vote_and_abstentions_are_no_answer_but_no_error():
    item = scene("above", "below")
    even = vote(item, [PAINTED] * 2, [verdict(0), verdict(1)])
    assert even.choice is None
    assert even.error is None
    none = vote(item, [PAINTED] * 2, [verdict(None), verdict(None)])
    assert (none.choice, none.error, none.scores) == (None, None, None)
    one = vote(item, [PAINTED] * 2, [verdict(None), verdict(1)])
    assert one.choice == "below"


def test_no_picture_at_all_is_an_error_that_says_why():
    item = scene("above", "below")
    lost = Painted(item="1", number=0, prompt="", seed=0, trouble="the server returned a page")
    found = vote(item, [lost], [None])
    assert found.error == "the server returned a page"


def test_what_is_asked_follows_from_the_choices():
    assert asked_of(scene("larger", "smaller")).kind == "size"
    assert asked_of(scene("above", "below")).kind == "position"
    look = ThingsFound(FoundThing("man", MAN.box), None)
    decided = BoxJudge(RULES["paper"]).decide(
        scene("above", "below"), asked_of(scene("above", "below")), look, (10, 10)
    )
    assert decided.choice is None
