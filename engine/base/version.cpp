// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace quantloupe {

std::string Version::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

VersionBuilder::VersionBuilder()
    : m_state(XXH3_createState(), [](XXH3_state_s* state) { XXH3_freeState(state); }) {
    XXH3_128bits_reset(m_state.get());
}

VersionBuilder::~VersionBuilder() = default;

VersionBuilder& VersionBuilder::addBytes(const void* data, std::size_t size) {
    XXH3_128bits_update(m_state.get(), data, size);
    return *this;
}

VersionBuilder& VersionBuilder::add(std::string_view text) {
    const auto size = static_cast<std::uint64_t>(text.size());  // so that "a","bc" differs from "ab","c"
    addBytes(&size, sizeof size);
    return addBytes(text.data(), text.size());
}

VersionBuilder& VersionBuilder::add(const Version& version) {
    addBytes(&version.high, sizeof version.high);
    return addBytes(&version.low, sizeof version.low);
}

Version VersionBuilder::finish() const {
    const XXH128_hash_t digest = XXH3_128bits_digest(m_state.get());
    return {digest.high64, digest.low64};
}

}  // namespace quantloupe
