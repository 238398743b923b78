// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the fuzz targets.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/load_model.h"

namespace quantloupe::fuzz {

/// Calls `use`, which may refuse its input. Lets errors through that are not the input's fault.
template <typename Use>
void mayRefuse(const Use& use) {
    try {
        use();
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::Internal || error.message().empty()) throw;
    }
}

inline void require(bool condition, const char* what) {
    if (!condition) throw std::logic_error(what);
}

/// A file in memory, for functions that read a path.
class MemoryFile {
  public:
    explicit MemoryFile(std::string_view bytes);
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::filesystem::path path() const;

  private:
    int m_file;
};

/// A model with the layers Conv_0, Relu_1, Conv_2, Add_3, Flatten_4 and Gemm_5.
LoadedModel smallModel();

}  // namespace quantloupe::fuzz
