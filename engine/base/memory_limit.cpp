// SPDX-License-Identifier: Apache-2.0
#include "base/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

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

/// The number after a key in a file of lines such as "MemAvailable: 1234 kB".
std::optional<std::size_t> keyOf(const std::string& path, const std::string& key) {
    std::ifstream file(path);
    std::string name, rest;
    for (std::size_t value = 0; file >> name >> value; std::getline(file, rest))
        if (name == key) return value;
    return std::nullopt;
}

std::optional<std::size_t> numberIn(const std::string& path) {
    std::ifstream file(path);
    std::size_t value = 0;
    return file >> value ? std::optional(value) : std::nullopt;  // "max" is no number
}

/// The bytes left within the memory limits of the control groups that contain the process (those of a
/// container, for example). The page cache counts as available because the kernel can reclaim it.
std::size_t groupLeft() {
    std::ifstream file("/proc/self/cgroup");
    std::string line, path;
    while (std::getline(file, line))
        if (line.starts_with("0::")) path = line.substr(3);
    std::size_t least = kUnlimited;
    for (;;) {
        const std::string folder = "/sys/fs/cgroup" + (path == "/" ? "" : path);
        const auto most = numberIn(folder + "/memory.max"), used = numberIn(folder + "/memory.current");
        if (most && used) {
            std::size_t cached = 0;
            for (const char* key : {"inactive_file", "active_file", "slab_reclaimable"})
                cached += keyOf(folder + "/memory.stat", key).value_or(0);
            const std::size_t needed = *used - std::min(*used, cached);
            least = std::min(least, *most - std::min(*most, needed));
        }
        if (path.empty() || path == "/") return least;
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::optional<std::size_t> availableMemory() {
    const std::size_t least =
        std::min({keyOf("/proc/meminfo", "MemAvailable:").value_or(kUnlimited / 1024) * 1024, groupLeft(),
                  addressSpaceLeft()});
    return least >= kUnlimited / 1024 * 1024 ? std::nullopt : std::optional(least);
}

void requireMemory(std::size_t bytes) {
    const std::size_t space = addressSpaceLeft();
    if (bytes > space)
        throw OutOfMemory(
            fmt::format("not enough memory: {:.0f} MiB more are needed, and the limit for this process "
                        "(ulimit -v) leaves {:.0f} MiB; raise it",
                        mebibytes(bytes), mebibytes(space)));
    if (bytes < kLarge) return;
    const std::size_t left = availableMemory().value_or(kUnlimited);
    if (bytes > left)
        throw OutOfMemory(fmt::format(
            "not enough memory: {:.0f} MiB more are needed at once, and {:.0f} MiB are available; make the "
            "model's fixed dimensions smaller, use fewer threads, or close other programs",
            mebibytes(bytes), mebibytes(left)));
}

}  // namespace quantloupe
