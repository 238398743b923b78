// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marks functions that are compiled for several instruction sets; the best one is selected at startup.
// (Sanitizers do not support the resolver functions that this generates.)

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define QUANTLOUPE_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define QUANTLOUPE_SIMD
#endif

/// For helpers of these functions: inlined into each of their versions and compiled for its instructions.
#define QUANTLOUPE_INLINE inline __attribute__((always_inline))

namespace quantloupe {

/// Adding and subtracting this number, 1.5 * 2^23, rounds to the nearest integer, ties to even, for |x| <
/// 2^22. Unlike nearbyint(), it vectorizes on every instruction set.
constexpr float kRound = 12582912.0f;

}  // namespace quantloupe
