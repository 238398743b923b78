// SPDX-License-Identifier: Apache-2.0
// The program of one target: libFuzzer has main().

#include <cstddef>
#include <cstdint>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    quantloupe::fuzz::QUANTLOUPE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
