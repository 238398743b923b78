// SPDX-License-Identifier: Apache-2.0
#pragma once
// Regular expressions on names, by RE2: matching takes time in proportion to the name's length, whatever the
// pattern.

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace quantloupe {

class NamePattern {
  public:
    /// The syntax is RE2's: that of Perl and Python without backreferences and look-around. Throws
    /// Error(BadInput) saying what is wrong with the pattern, also for one that is too long or nested too
    /// deeply.
    explicit NamePattern(const std::string& pattern);
    ~NamePattern();
    NamePattern(NamePattern&&) noexcept;
    NamePattern& operator=(NamePattern&&) noexcept;

    /// Whether the pattern matches anywhere in the name.
    bool matches(std::string_view name) const;

  private:
    std::unique_ptr<re2::RE2> m_regex;
};

}  // namespace quantloupe
