// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small random networks with data, for tests of searches.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>

#include "config/presets.h"
#include "data/random_dataset.h"
#include "session/session.h"
#include "support/text_model.h"

namespace quantloupe::test {

inline std::string weights(std::mt19937& random, const std::string& name, const std::string& dims, int count,
                           double spread) {
    std::normal_distribution<float> normal;
    // One large weight determines the scale, so the smaller ones lose precision, in some layers more than in
    // others.
    std::string text = "float[" + dims + "] " + name + " = {";
    for (int i = 0; i < count; ++i)
        text += fmt::format("{}{:.5f}", i == 0 ? "" : ", ", normal(random) * (i == 0 ? spread : 1));
    return text + "}";
}

/// Seven layers with weights, an Add around two of them, five classes; or, without classes, an image.
inline LoadedModel network(unsigned seed, bool classes) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> channels(2, 6);
    std::uniform_real_distribution<double> spread(1, 5);
    const int a = channels(random), b = channels(random), c = channels(random), d = channels(random);
    std::string constants, body;
    const auto conv = [&](const char* out, const char* in, const char* name, int to, int from, int kernel) {
        constants += (constants.empty() ? "" : ", ") +
                     weights(random, name, fmt::format("{},{},{},{}", to, from, kernel, kernel),
                             to * from * kernel * kernel, spread(random));
        body += fmt::format("{} = Conv<kernel_shape = [{}, {}], pads = [{}, {}, {}, {}]>({}, {}) ", out,
                            kernel, kernel, kernel / 2, kernel / 2, kernel / 2, kernel / 2, in, name);
    };
    conv("c0", "X", "W0", a, 2, 3);
    body += "r0 = Relu(c0) ";
    conv("c1", "r0", "W1", b, a, 1);
    body += "r1 = Relu(c1) ";
    conv("c2", "r1", "W2", b, b, 3);
    body += "s = Add(c2, r1) r2 = Relu(s) ";
    conv("c3", "r2", "W3", c, b, 3);
    body += "r3 = Relu(c3) ";
    conv("c4", "r3", "W4", d, c, 1);
    std::string output = "float[N," + std::to_string(d) + ",6,6] c4";
    if (classes) {
        body += "f = Flatten(c4) Y = MatMul(f, F) ";
        constants += ", " + weights(random, "F", std::to_string(d * 36) + ",5", d * 36 * 5, spread(random));
        output = "float[N,5] Y";
    }
    return textModel("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2,6,6] X) => (" + output +
                     ") <" + constants + "> { " + body + "}");
}

/// The samples of another dataset with labels.
class Labeled final : public Dataset {
  public:
    Labeled(DatasetPtr data, std::vector<int> labels)
        : m_data(std::move(data)), m_labels(std::move(labels)) {}
    std::size_t size() const override { return m_data->size(); }
    std::vector<SampleTensor> sample(std::size_t index) const override { return m_data->sample(index); }
    std::string sampleName(std::size_t index) const override { return m_data->sampleName(index); }
    std::optional<int> label(std::size_t index) const override { return m_labels[index]; }
    const std::vector<std::string>& classNames() const override { return m_data->classNames(); }
    std::string description() const override { return m_data->description(); }
    Version version() const override {
        return VersionBuilder().add(m_data->version()).add(std::string_view("labeled")).finish();
    }

  private:
    DatasetPtr m_data;
    std::vector<int> m_labels;
};

inline std::unique_ptr<Session> sessionOf(LoadedModel model, bool labels = false, std::size_t samples = 200) {
    SessionOptions options;
    options.threads = 2;
    auto session = std::make_unique<Session>(std::move(model), options);
    DatasetPtr data = randomDataset(session->graph(), samples, 3);
    const DatasetPtr calibration = randomDataset(session->graph(), 32, 4);
    session->setData(data, calibration);
    if (!labels) return session;
    // The float network's prediction, except for every seventh sample.
    const ConstantPtr outputs = session->outputs(std::nullopt)[0];
    std::vector<int> wanted;
    for (std::size_t s = 0; s < data->size(); ++s) {
        const float* row = outputs->floats().data() + s * 5;
        wanted.push_back(static_cast<int>((std::max_element(row, row + 5) - row + (s % 7 == 0 ? 1 : 0)) % 5));
    }
    session->setData(std::make_shared<Labeled>(data, wanted), calibration);
    return session;
}

inline QuantizationConfig coarse(int bits = 3) {
    QuantizationConfig config = presetConfig("default");
    config.skipTail = false;
    config.quantization.weight.bits = bits;
    return config;
}

}  // namespace quantloupe::test
