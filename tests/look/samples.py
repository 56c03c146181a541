"""Annotations of a few pictures in every format that is read, as their makers write them."""

from __future__ import annotations

import json

PHRASES = (
    "the front of the red bus",
    "a man's hat",
    "two women standing on the beach",
    "woman has long hair",
)
IMAGE_DATA = [
    {"width": 800, "height": 600, "url": "1.jpg", "image_id": 1, "coco_id": None},
    {"width": 400, "height": 300, "url": "2.jpg", "image_id": 2, "coco_id": 9},
    {"width": 100, "height": 100, "url": "3.jpg", "image_id": 3, "coco_id": None},
]


def description(
    id: int, image: int, phrase: str, box: tuple[int, int, int, int]
) -> dict[str, object]:
    x, y, width, height = box
    return {
        "region_id": id,
        "width": width,
        "height": height,
        "image_id": image,
        "phrase": phrase,
        "y": y,
        "x": x,
    }


DESCRIPTIONS = [
    {
        "id": 1,
        "regions": [
            description(10, 1, PHRASES[0], (0, 0, 400, 300)),
            description(11, 1, PHRASES[1], (10, 20, 30, 40)),
        ],
    },
    {"id": 2, "regions": [description(12, 2, PHRASES[2], (5, 5, 100, 100))]},
    {"id": 3, "regions": [description(13, 3, PHRASES[3], (0, 0, 100, 100))]},
]
OBJECTS = [
    {
        "image_id": 1,
        "objects": [
            {
                "object_id": 21,
                "names": ["bus"],
                "synsets": ["bus.n.01"],
                "x": 0,
                "y": 0,
                "w": 400,
                "h": 300,
            },
            {
                "object_id": 22,
                "names": ["Trees"],
                "synsets": [],
                "x": 400,
                "y": 0,
                "w": 400,
                "h": 300,
            },
        ],
    },
    {
        "image_id": 2,
        "objects": [
            {"object_id": 23, "names": ["cup"], "synsets": [], "x": 1, "y": 1, "w": 9, "h": 9}
        ],
    },
]
GRAPHS = [
    {
        "image_id": 1,
        "regions": [
            {
                "region_id": 10,
                "phrase": "a bus",
                "objects": OBJECTS[0]["objects"],
                "relationships": [],
            },
            {
                "region_id": 11,
                "phrase": "a bus again",
                "objects": [OBJECTS[0]["objects"][0]],
                "relationships": [],
            },
        ],
    }
]
# A square of 2 x 2 pixels from (1, 1) in a picture of 4 x 3, down the columns.
RUNS = [4, 2, 1, 2, 3]
COCO = {
    "info": {"description": "made up"},
    "images": [
        {"id": 7, "file_name": "000007.jpg", "width": 640, "height": 480},
        {"id": 8, "file_name": "000008.jpg", "width": 4, "height": 3},
    ],
    "annotations": [
        {
            "id": 31,
            "image_id": 8,
            "category_id": 2,
            "bbox": [1, 1, 2, 2],
            "iscrowd": 1,
            "segmentation": {"counts": RUNS, "size": [3, 4]},
        },
        {
            "id": 32,
            "image_id": 7,
            "category_id": 1,
            "bbox": [64, 48, 64, 48],
            "segmentation": [[64, 48, 128, 48, 128, 96, 64, 96]],
        },
        {"id": 33, "image_id": 7, "category_id": 2, "bbox": [0, 0, 640, 480], "segmentation": []},
    ],
    "categories": [{"id": 1, "name": "dog"}, {"id": 2, "name": "dining table"}],
}
CAPTIONS = {
    "images": COCO["images"],
    "annotations": [
        {"id": 41, "image_id": 7, "caption": "A dog under the table."},
        {"id": 42, "image_id": 7, "caption": "Two dogs."},
        {"id": 43, "image_id": 8, "caption": "An empty plate."},
    ],
}
ADE = {
    "annotation": {
        "filename": "ADE_train_00000001.jpg",
        "folder": "training/home_or_hotel/kitchen",
        "imsize": [200, 400, 3],
        "object": [
            {
                "id": 0,
                "raw_name": "cabinet",
                "parts": {"hasparts": [1], "ispartof": [], "part_level": 0},
                "instance_mask": "ADE_train_00000001/instance_000.png",
                "polygon": {"x": [0, 100, 100, 0], "y": [0, 0, 100, 100], "click_date": []},
            },
            {
                "id": 1,
                "raw_name": "door",
                "parts": {"hasparts": [], "ispartof": 0, "part_level": 1},
                "instance_mask": "",
                "polygon": {"x": [10, 40, 40, 10], "y": [10, 10, 90, 90]},
            },
            {
                "id": 2,
                "raw_name": "café table",
                "parts": {"hasparts": [], "ispartof": [], "part_level": 0},
                "polygon": {"x": [200, 400, 400], "y": [100, 100, 200]},
            },
        ],
    }
}
YOLO = "0 0.5 0.5 0.2 0.4\n2 0.1 0.1 0.2 0.2 0.9\n1 0.0 0.0 0.5 0.0 0.5 0.5\n"
NAMES = "names:\n  0: person\n  1: kite\n  2: traffic light\n"


def as_json(content: object) -> bytes:
    return json.dumps(content).encode()
