// SPDX-License-Identifier: Apache-2.0
// Reads COCO's JSON format. Unknown keys are ignored, as in pycocotools, because real files contain many.

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/input_file.h"
#include "base/strict_json.h"
#include "data/annotations.h"

namespace quantloupe {
namespace {

/// One entry of a list, with its name for messages.
struct CocoEntry {
    const Json& json;
    std::string name;  ///< "annotations[17]"

    const Json& need(const char* key) const {
        const auto found = json.find(key);
        if (found == json.end()) failInput("{}: '{}' is missing", name, key);
        return *found;
    }
    std::int64_t integer(const char* key) const {
        const Json& value = need(key);
        if (!value.is_number_integer())
            failInput("{}: '{}' must be a whole number, not {}", name, key, value.dump());
        return value.get<std::int64_t>();
    }
    std::string text(const char* key) const {
        const Json& value = need(key);
        if (!value.is_string()) failInput("{}: '{}' must be a text, not {}", name, key, value.dump());
        return value.get<std::string>();
    }
    int side(const char* key) const {
        constexpr std::int64_t kMaxSide = 1 << 20;
        const std::int64_t value = integer(key);
        if (value < 1 || value > kMaxSide)
            failInput("{}: '{}' must be a number of pixels from 1 to {}, not {}", name, key, kMaxSide, value);
        return static_cast<int>(value);
    }
};

template <typename Use>
void forEachEntry(const Json& json, const char* list, Use use) {
    const auto found = json.find(list);
    if (found == json.end() || !found->is_array())
        failInput("the list '{}' is missing: this is not a COCO file with instances", list);
    for (std::size_t i = 0; i < found->size(); ++i) {
        const CocoEntry entry{(*found)[i], fmt::format("{}[{}]", list, i)};
        if (!entry.json.is_object()) failInput("{}: must be an object", entry.name);
        use(entry);
    }
}

double cocoNumber(const CocoEntry& entry, const char* key, const Json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
        failInput("{}: '{}' must contain finite numbers, not {}", entry.name, key, value.dump());
    return value.get<double>();
}

LabeledBox boxOf(const CocoEntry& entry) {
    const Json& corners = entry.need("bbox");
    if (!corners.is_array() || corners.size() != 4)
        failInput("{}: 'bbox' must be [x, y, width, height], not {}", entry.name, corners.dump());
    LabeledBox box;
    box.x = cocoNumber(entry, "bbox", corners[0]);
    box.y = cocoNumber(entry, "bbox", corners[1]);
    box.width = cocoNumber(entry, "bbox", corners[2]);
    box.height = cocoNumber(entry, "bbox", corners[3]);
    const auto area = entry.json.find("area");
    box.area = area == entry.json.end() ? box.width * box.height : cocoNumber(entry, "area", *area);
    const auto crowd = entry.json.find("iscrowd");
    if (crowd != entry.json.end()) {
        const bool known =
            crowd->is_boolean() || (crowd->is_number_integer() && (*crowd == 0 || *crowd == 1));
        if (!known) failInput("{}: 'iscrowd' must be 0 or 1, not {}", entry.name, crowd->dump());
        box.crowd = crowd->is_boolean() ? crowd->get<bool>() : crowd->get<int>() == 1;
    }
    return box;
}

/// Some tools write fractions of the image instead of pixels. No box would be found then.
void requirePixels(const CocoFile& file) {
    bool any = false;
    for (const CocoFile::Labeled& image : file.images)
        for (const LabeledBox& box : image.annotation.boxes) {
            any = true;
            if (box.x + box.width > 1.01 || box.y + box.height > 1.01) return;
        }
    if (any)
        failInput(
            "all boxes are within the first pixel: COCO's boxes [x, y, width, height] are in pixels, not "
            "fractions of the image");
}

CocoFile parseCoco(const Json& json) {
    if (!json.is_object()) failInput("must be a JSON object with 'images', 'annotations' and 'categories'");
    CocoFile file;
    std::set<std::int64_t> ids;
    forEachEntry(json, "categories", [&](const CocoEntry& entry) {
        file.categories.push_back({entry.integer("id"), entry.text("name")});
        if (!ids.insert(file.categories.back().id).second)
            failInput("{}: the id {} is used twice", entry.name, file.categories.back().id);
    });
    if (file.categories.empty()) failInput("there are no categories");
    std::sort(file.categories.begin(), file.categories.end(),
              [](const Category& a, const Category& b) { return a.id < b.id; });
    std::unordered_map<std::int64_t, std::size_t> categories, images;
    for (std::size_t c = 0; c < file.categories.size(); ++c) categories[file.categories[c].id] = c;

    forEachEntry(json, "images", [&](const CocoEntry& entry) {
        CocoFile::Labeled image{entry.text("file_name"), {}};
        image.annotation.image = entry.integer("id");
        image.annotation.width = entry.side("width");
        image.annotation.height = entry.side("height");
        if (!images.emplace(image.annotation.image, file.images.size()).second)
            failInput("{}: the id {} is used twice", entry.name, image.annotation.image);
        file.images.push_back(std::move(image));
    });
    if (file.images.empty()) failInput("there are no images");

    forEachEntry(json, "annotations", [&](const CocoEntry& entry) {
        LabeledBox box = boxOf(entry);
        const auto category = categories.find(entry.integer("category_id"));
        if (category == categories.end())
            failInput("{}: there is no category with the id {}", entry.name, entry.integer("category_id"));
        const auto image = images.find(entry.integer("image_id"));
        if (image == images.end())
            failInput("{}: there is no image with the id {}", entry.name, entry.integer("image_id"));
        box.category = category->second;
        file.images[image->second].annotation.boxes.push_back(box);
    });
    requirePixels(file);
    return file;
}

}  // namespace

CocoFile readCoco(const std::filesystem::path& path) {
    try {
        return parseCoco(parseStrictJson(readFile(path)));
    } catch (Error& error) {
        error.addContext(fmt::format("labels '{}'", path.string())).setNamesFile();
        throw;
    }
}

}  // namespace quantloupe
