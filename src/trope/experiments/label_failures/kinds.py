"""COCO's 80 labels and the 12 super-classes that they are in (Lin et al., ECCV 2014)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

SUPER = {
    "person": "person",
    "vehicle": "bicycle car motorcycle airplane bus train truck boat",
    "outdoor": "traffic_light fire_hydrant stop_sign parking_meter bench",
    "animal": "bird cat dog horse sheep cow elephant bear zebra giraffe",
    "accessory": "backpack umbrella handbag tie suitcase",
    "sports": "frisbee skis snowboard sports_ball kite baseball_bat baseball_glove skateboard "
    "surfboard tennis_racket",
    "kitchen": "bottle wine_glass cup fork knife spoon bowl",
    "food": "banana apple sandwich orange broccoli carrot hot_dog pizza donut cake",
    "furniture": "chair couch potted_plant bed dining_table toilet",
    "electronic": "tv laptop mouse remote keyboard cell_phone",
    "appliance": "microwave oven toaster sink refrigerator",
    "indoor": "book clock vase scissors teddy_bear hair_drier toothbrush",
}
CLASSES = {
    label.replace("_", " "): name for name, labels in SUPER.items() for label in labels.split()
}


def unclassed(names: Sequence[str]) -> list[str]:
    """Labels that are in no super-class, as they are not COCO's."""
    return [name for name in names if name not in CLASSES]


def classes(labels: sparse.csr_matrix, names: Sequence[str]) -> sparse.csr_matrix:
    """Which super-classes items have, by their labels; one that COCO does not know has none."""
    places = {name: place for place, name in enumerate(SUPER)}
    known = [(i, places[CLASSES[name]]) for i, name in enumerate(names) if name in CLASSES]
    rows, columns = np.array(known, np.int64).reshape(-1, 2).T
    ones = np.ones(len(known), np.int32)
    return (labels @ sparse.csr_matrix((ones, (rows, columns)), (len(names), len(SUPER)))).tocsr()
