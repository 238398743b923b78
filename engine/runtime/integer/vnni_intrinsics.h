// SPDX-License-Identifier: Apache-2.0
#pragma once
// For functions that use AVX-512 with VNNI; call them only if instructionSets().avx512Vnni.

#include "runtime/x86_intrinsics.h"

#define QUANTLOUPE_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define QUANTLOUPE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
