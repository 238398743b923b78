// SPDX-License-Identifier: Apache-2.0
#pragma once
// One array in numpy's .npy format (numpy.lib.format, versions 1.0 to 3.0), from any stream of bytes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "model/constant.h"

namespace quantloupe {

/// Reads up to `size` bytes; fewer only at the end.
using ByteSource = std::function<std::size_t(std::byte* target, std::size_t size)>;

struct NpyHeader {
    std::string descr;  ///< "<f4"; empty for structured types
    bool fortranOrder = false;
    Dims shape;
    std::uint64_t bytes = 0;  ///< of the header itself, from the start of the file

    /// Undefined for what we have no type for: text, objects, dates, complex numbers, structures.
    DataType type() const;
};

/// Throws Error for what is no .npy file.
NpyHeader readNpyHeader(const ByteSource& source);
/// What follows the header, as row-major and little endian. `available` is how many bytes follow at most:
/// nothing is allocated beyond it. Throws Error for a type that we do not have and for a file that ends too
/// early.
ConstantPtr readNpyData(const NpyHeader& header, const ByteSource& source, std::uint64_t available);

/// The header for an array, of format 1.0. Throws Error for types that numpy does not have.
std::string npyHeaderFor(const Constant& array);

}  // namespace quantloupe
