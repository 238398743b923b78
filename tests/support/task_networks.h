// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small networks that detect and segment, with samples and the labels that the float networks find.

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "analysis/box_decoders.h"
#include "base/atomic_file.h"
#include "data/labeled_dataset.h"
#include "session/session.h"
#include "session/stages/sample_divergence.h"
#include "session/studies/task_predictions.h"
#include "support/text_model.h"

namespace quantloupe::test {

inline constexpr std::size_t kSamples = 24;

/// A sine pattern for each sample.
class Waves final : public Dataset {
  public:
    std::size_t size() const override { return kSamples; }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        SampleTensor tensor{DataType::Float32, {1, 10, 10}, std::vector<std::byte>(100 * sizeof(float))};
        for (std::size_t i = 0; i < 100; ++i) {
            const auto value = static_cast<float>(
                std::sin(0.37 * static_cast<double>(i * (index + 3)) + static_cast<double>(index)));
            std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
        }
        return {tensor};
    }
    std::string sampleName(std::size_t index) const override { return "row " + std::to_string(index); }
    std::optional<int> label(std::size_t) const override { return {}; }
    const std::vector<std::string>& classNames() const override { return m_none; }
    std::string description() const override { return "24 waves"; }
    Version version() const override { return {}; }

  private:
    std::vector<std::string> m_none;
};

/// "{0.31, -0.2, ...}". Small enough that no Sigmoid is exactly 0: a box without an area matches nothing.
inline std::string numbers(int count, int seed) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
        text += (i == 0 ? "" : ",") + std::to_string(std::sin(1.7 * (i + 1) * seed) * 1.2);
    return text + "}";
}

inline const std::string kTrunk =
    "<float[4,1,3,3] A = " + numbers(36, 3) + ", float[7,4,3,3] B = " + numbers(252, 5) +
    ", int64[3] rows = {0, 7, 100}, int64[2] flat = {7, 100}, int64[2] corners = {0, 0}";
inline const std::string kConvolutions = R"(
    a = Conv<pads = [1, 1, 1, 1]>(X, A)
    b = Relu(a)
    c = Conv<pads = [1, 1, 1, 1]>(b, B)
)";

inline LoadedModel model(const std::string& body) {
    return textModel("<ir_version: 8, opset_import: [\"\" : 13]> net " + body);
}

/// RT-DETR of Ultralytics: 100 normalized boxes with the scores of three classes.
inline LoadedModel detector() {
    return model("(float[N,1,10,10] X) => (float[N,100,7] detections)" + kTrunk + "> {" + kConvolutions + R"(
        d = Reshape(c, rows)
        e = Transpose<perm = [0, 2, 1]>(d)
        detections = Sigmoid(e)
    })");
}

/// torchvision: the number of boxes depends on the image.
inline LoadedModel detectorWithSelection() {
    return model("(float[1,1,10,10] X) => (float[K,4] boxes, float[K] scores, int64[K] labels)" + kTrunk +
                 R"(, int64[1] zero = {0}, int64[1] two = {2}, int64[1] four = {4}, int64[1] seven = {7},
                    int64[1] one = {1}, int64[1] any = {-1}, float five = {5}, float half = {0.5}> {)" +
                 kConvolutions + R"(
        d = Reshape(c, flat)
        e = Transpose<perm = [1, 0]>(d)
        y = Sigmoid(e)
        corner = Slice(y, zero, two, one)
        size = Slice(y, two, four, one)
        low = Mul(corner, five)
        part = Mul(size, five)
        extent = Add(part, half)
        high = Add(low, extent)
        all = Concat<axis = 1>(low, high)
        classes = Slice(y, four, seven, one)
        best = ReduceMax<axes = [1], keepdims = 0>(classes)
        which = ArgMax<axis = 1, keepdims = 0>(classes)
        sure = Greater(best, half)
        found = NonZero(sure)
        index = Reshape(found, any)
        boxes = Gather(all, index)
        scores = Gather(best, index)
        labels = Gather(which, index)
    })");
}

inline LoadedModel segmentation(bool indices) {
    const std::string output = indices ? "int64[N,10,10] classes" : "float[N,7,10,10] classes";
    return model("(float[N,1,10,10] X) => (" + output + ")" + kTrunk + "> {" + kConvolutions +
                 (indices ? "classes = ArgMax<axis = 1, keepdims = 0>(c)" : "classes = Identity(c)") + "}");
}

/// The objects that the float network finds in each sample, in pixels of the input.
inline std::vector<std::vector<Detection>> foundByFloat(const LoadedModel& loaded) {
    Session session(loaded);
    const auto waves = std::make_shared<Waves>();
    session.setData(
        withTask(waves, {.task = Task::Detection, .labels = {}, .classNames = {}, .decoder = {}}, {}), waves);
    std::vector<std::vector<Detection>> found;
    for (std::size_t s = 0; s < kSamples; ++s)
        found.push_back(
            taskPredictions(session, {}, findSample(session, "row " + std::to_string(s)), 10, 10).floating);
    return found;
}

/// A file of COCO labels without entries.
inline nlohmann::json cocoDocument() {
    return {{"images", nlohmann::json::array()},
            {"annotations", nlohmann::json::array()},
            {"categories", nlohmann::json::array()}};
}

/// Adds the image of a sample, with the id index + 1.
inline void addImage(nlohmann::json& coco, std::size_t sample) {
    coco["images"].push_back(
        {{"id", sample + 1}, {"file_name", std::to_string(sample) + ".png"}, {"width", 10}, {"height", 10}});
}

/// Categories have the ids 2, 5 and 9, so that class k is not the id k.
inline void writeCoco(const std::vector<std::vector<Detection>>& found, const std::filesystem::path& path) {
    const int ids[] = {2, 5, 9};
    nlohmann::json json = cocoDocument();
    for (const int id : ids)
        json["categories"].push_back({{"id", id}, {"name", "class " + std::to_string(id)}});
    for (std::size_t s = 0; s < found.size(); ++s) {
        addImage(json, s);
        for (const Detection& d : found[s])
            json["annotations"].push_back({{"id", json["annotations"].size() + 1},
                                           {"image_id", s + 1},
                                           {"category_id", ids[d.category]},
                                           {"bbox", {d.x, d.y, d.width, d.height}}});
    }
    writeFileAtomically(path, json.dump());
}

inline QuantizationConfig fourBits() {
    QuantizationConfig config;
    config.quantization.weight.bits = 4;
    return config;
}

inline DatasetPtr labeled(const std::filesystem::path& labels) {
    TaskSettings settings;
    settings.labels = labels;
    return withTask(std::make_shared<Waves>(), settings, {});
}

}  // namespace quantloupe::test
