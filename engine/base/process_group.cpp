// SPDX-License-Identifier: Apache-2.0
#include "base/process_group.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "base/version.h"

namespace quantloupe {
namespace {

/// Precedes every message. Different tags show that processes made different decisions, which would otherwise
/// mix up results.
struct Header {
    std::uint64_t tag = 0, status = 0;
};

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of one exchange, all processes together

}  // namespace

void ProcessGroup::gather(std::string_view what, Status status, const std::string& own, const Take& take) {
    if (m_over) fail(ErrorKind::Io, "another process of the run has already ended");
    const Header header{VersionBuilder().add(what).add(m_calls++).finish().low,
                        static_cast<std::uint64_t>(status)};
    std::string message(sizeof header, '\0');
    std::memcpy(message.data(), &header, sizeof header);
    message += own;
    std::string error;
    bool differ = false;  // also if a process has failed or left
    exchange(message, [&](std::size_t from, std::string_view received) {
        Header other;
        std::memcpy(&other, received.data(), sizeof other);
        received.remove_prefix(sizeof other);
        const auto state = static_cast<Status>(other.status);
        if (state == Status::Leaving) m_over = true;
        if (from != rank() && !received.empty() && state != Status::Working && error.empty())
            error = fmt::format("{}: {}", nameOf(from), received);
        differ = differ || other.tag != header.tag || state != Status::Working;
        if (status == Status::Working && !differ) take(from, received);
    });
    if (status != Status::Working) return;  // the caller has its own error
    if (!error.empty()) throw Error(ErrorKind::BadInput, error);
    if (!differ) return;
    m_over = true;
    fail(
        ErrorKind::BadInput,
        "the processes of the run do different work at the step '{}': they must have the same version of the "
        "program, the same options and the same files",
        what);
}

void ProcessGroup::allGather(std::string_view what, const std::function<std::string()>& make,
                             const Take& take) {
    std::string made;
    try {
        made = make();
    } catch (const Cancelled&) {
        throw;  // only when the run is being stopped
    } catch (const std::exception& error) {
        gather(what, Status::Failed, error.what(), {});
        throw;
    }
    gather(what, Status::Working, made, take);
}

std::string ProcessGroup::fromFirst(std::string_view what, const std::function<std::string()>& make) {
    std::string value;
    allGather(
        what, [&] { return rank() == 0 ? make() : std::string(); },
        [&](std::size_t from, std::string_view part) {
            if (from == 0) value = part;
        });
    return value;
}

std::uint64_t ProcessGroup::least(std::string_view what, std::uint64_t value) {
    std::string own(sizeof value, '\0');
    std::memcpy(own.data(), &value, sizeof value);
    std::uint64_t result = value;
    allGather(
        what, [&] { return own; },
        [&](std::size_t, std::string_view part) {
            std::uint64_t other = 0;
            std::memcpy(&other, part.data(), sizeof other);
            result = std::min(result, other);
        });
    return result;
}

void ProcessGroup::leave(const std::string& error) {
    if (m_over) return;
    gather("end", Status::Leaving, error, {});
}

std::string ProcessGroup::nameOf(std::size_t rank) const { return fmt::format("process {}", rank); }

void shareChunks(ProcessGroup& group, std::string_view what, std::size_t begin, std::size_t end,
                 const std::function<void()>& work,
                 const std::function<std::span<std::byte>(std::size_t)>& place) {
    bool worked = false;
    do {
        // Every process splits in the same way, because the sizes of all chunks are known everywhere.
        std::size_t stop = begin;
        const auto finish = [&] {
            for (std::size_t bytes = 0; stop < end && (stop == begin || bytes < kMostBytes); ++stop)
                bytes += place(stop).size();
        };
        const auto forOwner = [&](std::size_t owner, const auto& use) {
            for (std::size_t chunk = begin; chunk < stop; ++chunk)
                if (chunk % group.size() == owner) use(place(chunk));
        };
        group.allGather(
            what,
            [&] {
                if (!worked) work();
                finish();
                std::string packed;
                forOwner(group.rank(), [&](std::span<std::byte> bytes) {
                    packed.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                });
                return packed;
            },
            [&](std::size_t from, std::string_view part) {
                if (from == group.rank()) return;
                forOwner(from, [&](std::span<std::byte> bytes) {
                    std::memcpy(bytes.data(), part.data(), bytes.size());
                    part.remove_prefix(bytes.size());
                });
            });
        worked = true;
        begin = stop;
    } while (begin < end);
}

}  // namespace quantloupe
