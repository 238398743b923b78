// SPDX-License-Identifier: Apache-2.0
#pragma once
// The intrinsics of x86-64 processors. GCC 12 warns about registers that its own header leaves undefined on
// purpose (GCC bug 105593), so this header is included instead of <immintrin.h>.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
