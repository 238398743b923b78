// SPDX-License-Identifier: Apache-2.0
// ONNX test data: folders test_data_set_0, test_data_set_1, ... with one TensorProto per file.

#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "base/input_file.h"
#include "data/array_rows.h"
#include "data/dataset_sources.h"
#include "data/with_thousands.h"
#include "model/onnx_proto.h"

namespace quantloupe {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "test_data_set_";

bool isSet(const fs::path& folder) { return folder.filename().string().starts_with(kPrefix); }

struct DataSet {
    std::string name;
    std::vector<ConstantPtr> arrays;  // one per input
    std::size_t samples = 0;
};
struct Position {
    std::size_t set, row;
};

class OnnxTestData : public Dataset {
  public:
    OnnxTestData(std::vector<InputSpec> inputs, std::vector<DataSet> sets)
        : m_inputs(std::move(inputs)), m_sets(std::move(sets)) {
        VersionBuilder version;
        version.add("onnx test data");
        for (const InputSpec& input : m_inputs) version.add(input.name).add(input.type);
        for (std::size_t set = 0; set < m_sets.size(); ++set) {
            version.add(m_sets[set].name);
            for (const ConstantPtr& array : m_sets[set].arrays) version.add(array->version());
            for (std::size_t row = 0; row < m_sets[set].samples; ++row) m_positions.push_back({set, row});
        }
        m_version = version.finish();
    }

    std::size_t size() const override { return m_positions.size(); }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        const auto [set, row] = m_positions[index];
        std::vector<SampleTensor> tensors;
        try {
            for (std::size_t i = 0; i < m_inputs.size(); ++i)
                tensors.push_back(sampleOf(m_sets[set].arrays[i], row, m_inputs[i]));
        } catch (Error& error) {
            error.addContext(sampleName(index));
            throw;
        }
        return tensors;
    }
    std::string sampleName(std::size_t index) const override {
        const auto [set, row] = m_positions[index];
        return m_sets[set].samples == 1 ? m_sets[set].name : fmt::format("{} row {}", m_sets[set].name, row);
    }
    std::optional<int> label(std::size_t) const override { return std::nullopt; }
    const std::vector<std::string>& classNames() const override {
        static const std::vector<std::string> none;
        return none;
    }
    std::string description() const override {
        return fmt::format("{} {} in {} {}", withThousands(size()), size() == 1 ? "sample" : "samples",
                           withThousands(m_sets.size()),
                           m_sets.size() == 1 ? "test data set" : "test data sets");
    }
    Version version() const override { return m_version; }

  private:
    std::vector<InputSpec> m_inputs;
    std::vector<DataSet> m_sets;
    std::vector<Position> m_positions;
    Version m_version;
};

ConstantPtr loadTensor(const fs::path& path) {
    const std::string bytes = readFile(path);  // at most as much as protobuf reads
    const auto tensor = std::make_shared<onnx::TensorProto>();
    if (!tensor->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !tensor->has_data_type())
        failInput("this is not an ONNX tensor, or it is incomplete");
    return constantFromProto(*tensor, tensor, path.parent_path());
}

DataSet loadSet(const fs::path& folder, const std::vector<InputSpec>& inputs) {
    DataSet set{folder.filename().string(), {}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string file = fmt::format("input_{}.pb", i);
        try {
            if (!fs::exists(folder / file))
                failInput("it is missing: the network has {} inputs, and each needs a file", inputs.size());
            set.arrays.push_back(loadTensor(folder / file));
            checkArrayFits(*set.arrays.back(), inputs[i], file);
        } catch (Error& error) {
            error.addContext(fmt::format("'{}/{}'", set.name, file));
            throw;
        }
    }
    set.samples = samplesIn(set.arrays, inputs, fmt::format("the inputs in '{}'", set.name));
    return set;
}

std::vector<fs::path> setsIn(const fs::path& folder) {
    std::vector<fs::path> sets;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.is_directory() && isSet(entry.path())) sets.push_back(entry.path());
    std::sort(sets.begin(), sets.end(), [](const fs::path& a, const fs::path& b) {
        return a.filename().string() < b.filename().string();
    });
    return sets;
}

/// "a/b/" has an empty file name.
fs::path withoutSlash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

}  // namespace

bool isOnnxTestData(const fs::path& folder) {
    return isSet(withoutSlash(folder)) || fs::exists(folder / "input_0.pb") || !setsIn(folder).empty();
}

DatasetPtr openOnnxTestData(const fs::path& folder, const std::vector<InputSpec>& inputs) {
    if (inputs.empty()) failInput("the network has no inputs");
    std::vector<fs::path> folders = setsIn(folder);
    if (folders.empty()) folders.push_back(withoutSlash(folder));
    std::vector<DataSet> sets;
    for (const fs::path& set : folders) sets.push_back(loadSet(set, inputs));
    return std::make_shared<OnnxTestData>(inputs, std::move(sets));
}

}  // namespace quantloupe
