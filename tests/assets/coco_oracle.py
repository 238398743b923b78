# SPDX-License-Identifier: Apache-2.0
"""Writes tests/assets/oracles/coco_detection.json: random labels and detections with pycocotools' results.

    pip install pycocotools==2.0.11 numpy
    python3 tests/assets/coco_oracle.py

The cases contain crowds, equal scores, more than 100 detections of one category in an image, images without labels
or detections, categories without labels, and areas that COCO does not count. Category ids have gaps, as COCO's have.
"""
import contextlib
import io
import json
from pathlib import Path

import numpy
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

CATEGORIES = [1, 3, 7, 8, 44]
rng = numpy.random.default_rng(20)


def boxes_near(box, count):
    """Boxes that overlap the given one by different amounts."""
    x, y, w, h = box
    return [[round(v, 2) for v in (x + w * rng.normal(0, 0.1), y + h * rng.normal(0, 0.1),
                                   w * rng.uniform(0.8, 1.25), h * rng.uniform(0.8, 1.25))]
            for _ in range(count)]


def make_case(images, per_image, crowded):
    labels = {"images": [], "annotations": [], "categories": [{"id": i, "name": f"category {i}"} for i in CATEGORIES]}
    detections = []
    for image in range(images):
        image_id = 1000 - 7 * image  # the order of the file is not the order of the ids
        labels["images"].append({"id": image_id, "file_name": f"{image_id}.jpg", "width": 320, "height": 240})
        for _ in range(0 if image == 2 else int(rng.integers(1, per_image))):
            w, h = rng.uniform(10, 120, 2)
            box = [round(float(v), 2) for v in (rng.uniform(0, 320 - w), rng.uniform(0, 240 - h), w, h)]
            category = int(rng.choice(CATEGORIES[:4]))  # the last one never has labels
            labels["annotations"].append({"id": len(labels["annotations"]) + 1, "image_id": image_id,
                                          "category_id": category, "bbox": box, "area": round(box[2] * box[3], 2),
                                          "iscrowd": int(rng.random() < crowded)})
            if image == 3:
                continue  # an image without detections
            for near in boxes_near(box, int(rng.integers(0, 4))):
                detections.append({"image_id": image_id, "bbox": near, "score": round(float(rng.beta(2, 2)), 2),
                                   "category_id": category if rng.random() < 0.9 else int(rng.choice(CATEGORIES))})
    if crowded == 0:  # more than 100 of one category: the last ones, which are right, do not count
        first = labels["annotations"][0]
        for _ in range(110):
            w, h = rng.uniform(5, 20, 2)
            detections.append({"image_id": first["image_id"], "category_id": first["category_id"],
                               "bbox": [round(float(v), 2) for v in (*rng.uniform(0, 200, 2), w, h)], "score": 0.995})
        detections.append({"image_id": first["image_id"], "category_id": first["category_id"],
                           "bbox": first["bbox"], "score": 0.001})
    return labels, detections


def truth(labels, detections):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = labels
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(detections), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    precision = evaluation.eval["precision"][:, :, :, 0, 2]  # IoU, recall, category; all areas, 100 detections

    def mean(values):
        return float(values.mean()) if values.size and values.max() > -1 else None

    return {"map": float(evaluation.stats[0]), "map50": float(evaluation.stats[1]),
            "ap": [mean(precision[:, :, k]) for k in range(len(CATEGORIES))],
            "ap50": [mean(precision[0, :, k]) for k in range(len(CATEGORIES))]}


cases = []
for arguments in [(12, 8, 0.0), (12, 8, 0.2), (30, 5, 0.1), (1, 6, 0.5), (20, 8, 0.2)]:
    labels, detections = make_case(*arguments)
    if len(cases) == 4:  # areas above 1e10 and below 0; right and left swapped
        for label in labels["annotations"][::4]:
            label["area"] = float(rng.choice([2e10, -1.0]))
        for detection in detections[::3]:
            x, y, w, h = detection["bbox"]
            detection["bbox"] = [round(x + w, 2), y, -w, h]
    result = truth(labels, detections)
    cases.append({"labels": labels, "detections": detections, "truth": result})
    print(arguments, len(labels["annotations"]), "labels", len(detections), "detections", result["map"])
path = Path(__file__).parent / "oracles" / "coco_detection.json"
path.write_text(json.dumps({"pycocotools": "2.0.11", "cases": cases}, separators=(",", ":")) + "\n")
print(path, path.stat().st_size, "bytes")
