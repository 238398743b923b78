// SPDX-License-Identifier: Apache-2.0
#pragma once
// A simulated user who makes random edits, and the memory of the process.

#include <unistd.h>

#include <fstream>
#include <random>

#include "config/presets.h"
#include "model/graph.h"

namespace quantloupe::test {

/// Makes one change to a configuration each time: a layer, the calibration, the scheme, or the transforms,
/// which change the network.
class RandomEdits {
  public:
    RandomEdits(const Graph& graph, unsigned seed) : m_random(seed), m_config(presetConfig("w4a8")) {
        m_config.calibration.samples = 32;
        for (const Node& node : graph.nodes())
            if (node.op == "Conv" || node.op == "Gemm" || node.op == "Add") m_layers.push_back(node.name);
    }

    const QuantizationConfig& next() {
        QuantizationConfig& c = m_config;
        switch (m_random() % 8) {
            case 0:
                c.calibration.method =
                    oneOf({CalibrationMethod::MinMax, CalibrationMethod::Percentile, CalibrationMethod::Mse});
                break;
            case 1:
                c.quantization.weight.perChannel = !c.quantization.weight.perChannel;
                break;
            case 2:
                c.quantization.weight.bits = oneOf({4, 5, 6, 8});
                break;
            case 3:
                c.transforms.equalization.profile =
                    oneOf({EqualizationProfile::Off, EqualizationProfile::Aimet, EqualizationProfile::Quark});
                break;
            case 4:
                c.transforms.equalization.weightThreshold =
                    0.1 + 0.001 * static_cast<double>(m_random() % 800);
                break;
            case 5:
                c.transforms.replaceRelu6 = oneOf({ReplaceRelu6::None, ReplaceRelu6::Between});
                break;
            default: {
                auto& own = c.layers[m_layers[m_random() % m_layers.size()]];
                own.quantize = !own.quantize.value_or(true);
            }
        }
        return c;
    }

  private:
    template <typename T>
    T oneOf(std::initializer_list<T> values) {
        return *(values.begin() + m_random() % values.size());
    }

    std::mt19937 m_random;
    QuantizationConfig m_config;
    std::vector<std::string> m_layers;
};

/// Resident memory of this process, in bytes.
inline std::size_t residentBytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace quantloupe::test
