// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a tensor is from its float reference, streamed: sums in double, one pass, mergeable in a fixed order.
// These are the cheap metrics, a few nanoseconds for ten elements; what needs a division or a logarithm an element
// is in relative_errors.h and divergence.h.

#include <cstddef>
#include <span>

#include "analysis/channel_layout.h"
#include "session/evaluation.h"

namespace quantloupe {

/// Sums over the elements of a reference f and a tensor under test q.
struct DifferenceSums {
    double squaredDifference = 0;   ///< sum (q - f)^2
    double squaredReference = 0;    ///< sum f^2
    double squaredTested = 0;       ///< sum q^2
    double product = 0;             ///< sum q f
    double maxAbsolute = 0;         ///< max |q - f|; NaN is passed over here and shows in the sums
    double absoluteDifference = 0;  ///< sum |q - f|
    double sumReference = 0;        ///< sum f
    double sumTested = 0;           ///< sum q
    std::size_t count = 0;          ///< elements

    /// The order of the additions depends on `count` alone, not on the machine.
    void add(const float* reference, const float* tested, std::size_t count);
    void merge(const DifferenceSums& other);

    /// With n elements, d = q - f:
    ///   QS = |d| / |f|: 0 where nothing differs, infinite where f is all zero and q is not (CLIKA ACE's words);
    ///   SQNR = -20 log10(QS) dB;
    ///   cosine = sum q f / (|q| |f|): 1 if both are all zero, 1 for a single element, NaN if one of them is all zero;
    ///   the latter two with a note;
    ///   max, mean and root mean square of |d|;
    ///   relative Euclidean distance = QS, but 0 where |f| <= FLT_EPSILON;
    ///   absolute L2 = |d| (CLIKA 24.x);
    ///   mean and standard deviation (population, from the sums of squares) of q and of f.
    /// A NaN among the elements makes all of them NaN. Without elements all is as without difference. Formulas and
    /// special cases: Ascend Model Accuracy Analyzer (msaccucmp), CLIKA ACE.
    TensorDifference result() const;
};

/// One DifferenceSums a channel. `channels` has layout.channels items, which are added to. Gives the same sums as picking
/// out each channel's elements, up to the order of the additions.
void addPerChannel(const ChannelLayout& layout, const float* reference, const float* tested,
                   std::span<DifferenceSums> channels);

}  // namespace quantloupe
