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

    /// Returns Undefined for unsupported types: text, objects, dates, complex numbers, structures.
    DataType type() const;
};

/// Reads the header. Throws Error if the source is not a .npy file.
NpyHeader readNpyHeader(const ByteSource& source);
/// Reads the data after the header and converts it to row-major and little endian. At most `available` bytes
/// follow, and no more is allocated. Throws Error for an unsupported type and for a truncated file.
ConstantPtr readNpyData(const NpyHeader& header, const ByteSource& source, std::uint64_t available);

/// Returns the header (format 1.0) for an array. Throws Error for types that numpy does not have.
std::string npyHeaderFor(const Constant& array);

}  // namespace quantloupe
