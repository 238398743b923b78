// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support/text_model.h"

namespace quantloupe::fuzz {

MemoryFile::MemoryFile(std::string_view bytes) : m_file(::memfd_create("input", MFD_CLOEXEC)) {
    if (m_file < 0 || ::write(m_file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("the input cannot be stored in memory");
}

MemoryFile::~MemoryFile() { ::close(m_file); }

std::filesystem::path MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(m_file); }

LoadedModel smallModel() {
    static const std::string bytes = [] {
        std::string weights = "1";
        for (int i = 1; i < 96; ++i) weights += ", " + std::to_string(i * 7 % 13 - 6);
        return test::textModelBytes(
            "<ir_version: 8, opset_import: [\"\" : 13]> network (float[N,3,4,4] X) => (float[N,2] Y)"
            "<float[3,3,1,1] A = {1, -2, 3, 4, -5, 6, 7, 8, -9}, float[3] B = {1, 2, 3}, float[2,48] C = {" +
            weights +
            "}, float[2] D = {-1, 1}>"
            "{ a = Conv (X, A, B) b = Relu (a) c = Conv (b, A) d = Add (b, c) e = Flatten (d)"
            "  Y = Gemm <transB = 1> (e, C, D) }");
    }();
    return parseModel(bytes.data(), bytes.size());
}

}  // namespace quantloupe::fuzz
