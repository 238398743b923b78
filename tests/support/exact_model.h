// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network and samples whose numbers are small fractions of powers of two, so that sums are the same in any
// order and on any machine.

#include <cstring>

#include "data/dataset.h"
#include "support/export_support.h"

namespace quantloupe::test {

inline GraphPtr exactModel() {
    return namedModel(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        net (float[N,2,4,4] X) => (float[N,3] Y)
        <float[2,2,1,1] A = {1,2,-1,1}, float[2] a0 = {0.5,-0.25}, float lo = {0}, float hi = {6}, float[2,1,1,1] D = {1,-2},
         float[2,2,1,1] B = {1,0.5,0.25,4}, float[3,2] W = {1,2,3,4,5,-6}, float[3] c = {0,1,2}> {
            a = Conv(X, A, a0)
            a2 = Clip(a, lo, hi)
            b = Conv<group = 2>(a2, D)
            b2 = Relu(b)
            d = Conv(b2, B)
            e = Add(d, X)
            f = GlobalAveragePool(e)
            g = Flatten(f)
            Y = Gemm<transB = 1>(g, W, c)
        })",
                      {"/stem/Conv", "/stem/Clip", "/dw/Conv", "/dw/Relu", "/out/Conv", "/out/Add", "/pool",
                       "/flatten", "/head/Gemm"});
}

/// Sixteen samples of multiples of 1/4 from -2 to 2.
class Quarters final : public Dataset {
  public:
    std::size_t size() const override { return 16; }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        SampleTensor tensor{DataType::Float32, {2, 4, 4}, std::vector<std::byte>(32 * sizeof(float))};
        for (std::size_t i = 0; i < 32; ++i) {
            const float value = static_cast<float>(static_cast<int>((index * 7 + i * 5) % 17) - 8) / 4;
            std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
        }
        return {tensor};
    }
    std::string sampleName(std::size_t index) const override { return "row " + std::to_string(index); }
    std::optional<int> label(std::size_t) const override { return {}; }
    const std::vector<std::string>& classNames() const override { return m_none; }
    std::string description() const override { return "16 samples"; }
    Version version() const override { return {}; }

  private:
    std::vector<std::string> m_none;
};

}  // namespace quantloupe::test
