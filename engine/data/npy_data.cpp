// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/error.h"
#include "data/npy_format.h"

namespace quantloupe {

namespace {

/// Converts Fortran order (first index fastest) to C order (last index fastest).
std::vector<std::byte> toRowMajor(const std::vector<std::byte>& bytes, const Dims& dims,
                                  std::size_t element) {
    std::vector<std::byte> result(bytes.size());
    std::vector<std::size_t> stride(dims.size()), index(dims.size(), 0);
    std::size_t step = element;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        stride[d] = step;
        step *= static_cast<std::size_t>(dims[d]);
    }
    std::size_t from = 0;
    for (std::size_t to = 0; to < result.size(); to += element) {
        std::memcpy(result.data() + to, bytes.data() + from, element);
        for (std::size_t d = dims.size(); d-- > 0;) {
            from += stride[d];
            if (++index[d] < static_cast<std::size_t>(dims[d])) break;
            from -= stride[d] * index[d];
            index[d] = 0;
        }
    }
    return result;
}

void swapBytes(std::vector<std::byte>& bytes, std::size_t element) {
    for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(element))
        std::reverse(at, at + static_cast<std::ptrdiff_t>(element));
}

}  // namespace

ConstantPtr readNpyData(const NpyHeader& header, const ByteSource& source, std::uint64_t available) {
    const DataType type = header.type();
    if (type == DataType::Undefined) {
        const bool objects = header.descr.find('O') != std::string::npos;
        failInput("the array has the numpy type '{}'{}: save it as numbers",
                  header.descr.empty() ? "structure" : header.descr,
                  objects ? " (Python objects, which are never loaded)" : "");
    }
    const std::size_t element = elementSize(type);
    const auto needed = static_cast<std::uint64_t>(elementCount(header.shape)) * element;
    if (needed > available)
        failInput("the file is incomplete: the shape {} needs {} bytes, but there are {}",
                  toString(header.shape), needed, available);
    std::vector<std::byte> bytes(static_cast<std::size_t>(needed));
    const std::size_t got = source(bytes.data(), bytes.size());
    if (got != bytes.size())
        failInput("the file is incomplete: the shape {} needs {} bytes, but there are {}",
                  toString(header.shape), needed, got);
    if (header.descr.front() == '>') swapBytes(bytes, element);
    if (header.fortranOrder && header.shape.size() > 1) bytes = toRowMajor(bytes, header.shape, element);
    return Constant::fromBytes(type, header.shape, std::move(bytes));
}

}  // namespace quantloupe
