// SPDX-License-Identifier: Apache-2.0
#pragma once
// For functions that use AVX-512 with VNNI; call them only if instructionSets().avx512Vnni.

// GCC 12 warns about registers that its own header leaves undefined on purpose (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#define QUANTLOUPE_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define QUANTLOUPE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
