// SPDX-License-Identifier: Apache-2.0
#include "base/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "base/error.h"

namespace quantloupe {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
/// Smaller requests are not checked against the machine's memory.
constexpr std::size_t kLarge = std::size_t{64} << 20;

/// Unused bytes below the address space limit.
std::size_t addressSpaceLeft() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    if (!(file >> pages)) return kUnlimited;
    const std::size_t used = pages * static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
    return limit.rlim_cur - std::min<std::size_t>(used, limit.rlim_cur);
}

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::optional<std::size_t> availableMemory() {
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    for (std::size_t kibibytes = 0; file >> name >> kibibytes; std::getline(file, unit))
        if (name == "MemAvailable:") return kibibytes * 1024;
    return std::nullopt;
}

void requireMemory(std::size_t bytes) {
    const std::size_t space = addressSpaceLeft();
    if (bytes > space)
        fail(ErrorKind::Unsupported,
             "not enough memory: {:.0f} MiB more are needed, and the limit for this process (ulimit -v) "
             "leaves {:.0f} MiB; raise it",
             mebibytes(bytes), mebibytes(space));
    if (bytes < kLarge) return;
    const std::size_t left = availableMemory().value_or(kUnlimited);
    if (bytes > left)
        fail(ErrorKind::Unsupported,
             "not enough memory: {:.0f} MiB more are needed at once, and {:.0f} MiB are available; make the "
             "model's fixed dimensions smaller, use fewer threads, or close other programs",
             mebibytes(bytes), mebibytes(left));
}

}  // namespace quantloupe
