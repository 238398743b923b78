// SPDX-License-Identifier: Apache-2.0
#pragma once
// Difference of a tensor from its float reference, streamed: sums in double, one pass, mergeable in a fixed
// order. These are the cheap metrics, a few nanoseconds per ten elements; metrics that need a division or a
// logarithm per element are in relative_errors.h and divergence.h.

#include <cstddef>
#include <cstdint>
#include <span>

#include "analysis/channel_layout.h"
#include "results/evaluation.h"
#include "runtime/integer/fake_quant.h"

namespace quantloupe {

/// Sums over the elements of a reference f and a tensor under test q.
struct DifferenceSums {
    double squaredDifference = 0;   ///< sum (q - f)^2
    double squaredReference = 0;    ///< sum f^2
    double squaredTested = 0;       ///< sum q^2
    double product = 0;             ///< sum q f
    double maxAbsolute = 0;         ///< max |q - f|; ignores NaN, which shows in the sums
    double absoluteDifference = 0;  ///< sum |q - f|
    double sumReference = 0;        ///< sum f
    double sumTested = 0;           ///< sum q
    std::size_t count = 0;          ///< elements

    /// Adds elements: element i to lane i % 8, starting from 0; then the lanes one after the other; then the
    /// elements after the last multiple of 8. The order depends only on `count`, not on the machine.
    void add(const float* reference, const float* tested, std::size_t count);
    /// The same for a tensor that is stored as codes; the result is bit-identical.
    void add(const float* reference, const std::uint8_t* codes, const FakeQuant& quantizer,
             std::size_t count);
    void merge(const DifferenceSums& other);

    /// With n elements, d = q - f:
    ///   QS = |d| / |f|: 0 if nothing differs, infinite if f is all zero and q is not (as defined by CLIKA
    ///   ACE); SQNR = -20 log10(QS) dB; cosine = sum q f / (|q| |f|): 1 if both are all zero, 1 for a single
    ///   element, NaN if one of them is all zero; the last two cases set a note; max, mean and root mean
    ///   square of |d|; relative Euclidean distance = QS, but 0 if |f| <= FLT_EPSILON; absolute L2 = |d|
    ///   (CLIKA 24.x); mean and standard deviation (population, from the sums of squares) of q and of f.
    /// If an element is NaN or infinite, QS, SQNR, cosine and maximum are NaN, and what depends on it is not
    /// finite. Without elements, they are as if nothing differed. Formulas and special cases: Ascend Model
    /// Accuracy Analyzer (msaccucmp), CLIKA ACE.
    TensorDifference result() const;
};

/// Adds to one DifferenceSums per channel; `channels` has layout.channels items. Gives the same sums as
/// selecting each channel's elements, up to the order of the additions.
void addPerChannel(const ChannelLayout& layout, const float* reference, const float* tested,
                   std::span<DifferenceSums> channels);

}  // namespace quantloupe
