// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random networks and precisions.

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "config/precision.h"

namespace quantloupe::test {

/// A convolutional network of three to eight random operators, then pooled and classified; in ONNX's textual
/// form.
class RandomNetwork {
  public:
    explicit RandomNetwork(std::mt19937& random) : m_random(random) {
        m_made.push_back({"X", 3, 8});
        const int operators = pick(3, 8);
        for (int i = 0; i < operators; ++i) addOperator();
        const Made last = m_made.back();
        node("Pooled", "GlobalAveragePool(" + last.name + ")");
        node("Flat", "Flatten(Pooled)");
        weight("WG", {5, last.channels});
        weight("BG", {5});
        node("Y", "Gemm<transB = 1>(Flat, WG, BG)");
    }
    std::string text() const {
        return "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,3,8,8] X) => (float[N,5] Y) <float low "
               "= {0}, float high = {6}" +
               m_weights + "> {" + m_nodes + "}";
    }

  private:
    struct Made {
        std::string name;
        int channels, side;
    };

    int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(m_random); }

    void weight(const std::string& name, const std::vector<int>& shape) {
        std::normal_distribution<float> normal(0, 0.5f);
        std::string sizes, values;
        int count = 1;
        for (const int size : shape)
            sizes += (sizes.empty() ? "" : ",") + std::to_string(size), count *= size;
        for (int i = 0; i < count; ++i)
            values += (i == 0 ? "" : ", ") + fmt::format("{:.6f}", normal(m_random));
        m_weights += fmt::format(", float[{}] {} = {{{}}}", sizes, name, values);
    }
    void node(const std::string& output, const std::string& call) { m_nodes += " " + output + " = " + call; }

    void addOperator() {
        const Made from =
            m_made[m_made.size() - 1 - static_cast<std::size_t>(pick(0, 4) == 0 && m_made.size() > 1)];
        const std::string name = "T" + std::to_string(m_made.size());
        Made made{name, from.channels, from.side};
        switch (pick(0, 9)) {
            case 0:
            case 1:
            case 2: {
                const int kernel = pick(0, 1) == 0 ? 1 : 3;
                made.channels = pick(2, 6);
                weight("W" + name, {made.channels, from.channels, kernel, kernel});
                weight("B" + name, {made.channels});
                node(name, fmt::format("Conv<pads = [{0}, {0}, {0}, {0}]>({1}, W{2}, B{2})", kernel / 2,
                                       from.name, name));
                break;
            }
            case 3:
                weight("W" + name, {from.channels, 1, 3, 3});
                node(name, fmt::format("Conv<group = {}, pads = [1, 1, 1, 1]>({}, W{})", from.channels,
                                       from.name, name));
                break;
            case 4:
                node(name, "Relu(" + from.name + ")");
                break;
            case 5:
                node(name, "Clip(" + from.name + ", low, high)");
                break;
            case 6:
                if (from.side < 4)
                    return node(name, "Relu(" + from.name + ")"), m_made.push_back(made), void();
                made.side = from.side / 2;
                node(name, std::string(pick(0, 1) == 0 ? "MaxPool" : "AveragePool") +
                               "<kernel_shape = [2, 2], strides = [2, 2]>(" + from.name + ")");
                break;
            case 7:
                if (from.channels % 2 != 0)
                    return node(name, "Relu(" + from.name + ")"), m_made.push_back(made), void();
                made.channels = from.channels / 2;
                node(name + ", " + name + "other", "Split<axis = 1>(" + from.name + ")");
                m_made.push_back({name + "other", made.channels, made.side});
                break;
            default: {  // with another tensor of the same size
                std::vector<Made> others;
                for (const Made& other : m_made)
                    if (other.side == from.side) others.push_back(other);
                const Made other =
                    others[static_cast<std::size_t>(pick(0, static_cast<int>(others.size()) - 1))];
                if (other.channels == from.channels && pick(0, 1) == 0) {
                    node(name, "Add(" + from.name + ", " + other.name + ")");
                } else {
                    made.channels = from.channels + other.channels;
                    node(name, "Concat<axis = 1>(" + from.name + ", " + other.name + ")");
                }
            }
        }
        m_made.push_back(made);
    }

    std::mt19937& m_random;
    std::vector<Made> m_made;
    std::string m_weights, m_nodes;
};

/// float32, float16, or 2 to 16 bits.
inline Precision randomPrecision(std::mt19937& random) {
    switch (random() % 6) {
        case 0:
            return Precision::float32();
        case 1:
            return Precision::float16();
        default:
            return Precision::integer(2 + static_cast<int>(random() % 15),
                                      2 + static_cast<int>(random() % 15));
    }
}

}  // namespace quantloupe::test
