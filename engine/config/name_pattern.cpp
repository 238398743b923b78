// SPDX-License-Identifier: Apache-2.0
#include "config/name_pattern.h"

#include <re2/re2.h>

#include "base/error.h"

namespace quantloupe {
namespace {

constexpr std::size_t kLongestPattern = 10'000;

}  // namespace

NamePattern::NamePattern(const std::string& pattern) {
    if (pattern.size() > kLongestPattern)
        failInput("the regular expression has {} characters, and the limit is {}", pattern.size(),
                  kLongestPattern);
    RE2::Options options;
    options.set_log_errors(false);
    m_regex = std::make_unique<RE2>(pattern, options);
    if (!m_regex->ok()) failInput("the regular expression '{}' is not valid: {}", pattern, m_regex->error());
}

NamePattern::~NamePattern() = default;
NamePattern::NamePattern(NamePattern&&) noexcept = default;
NamePattern& NamePattern::operator=(NamePattern&&) noexcept = default;

bool NamePattern::matches(const Node& node) const {
    return matchesName(node) || (!node.modulePath.empty() && RE2::PartialMatch(node.modulePath, *m_regex));
}

bool NamePattern::matchesName(const Node& node) const { return RE2::PartialMatch(node.name, *m_regex); }

}  // namespace quantloupe
