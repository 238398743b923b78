// SPDX-License-Identifier: Apache-2.0
#pragma once
// Regular expressions for names. They use RE2, so the time to match is proportional to the length of the name
// for every pattern.

#include <memory>
#include <string>

#include "model/graph.h"

namespace re2 {
class RE2;
}

namespace quantloupe {

class NamePattern {
  public:
    /// Compiles a pattern in RE2's syntax (as in Perl and Python, without backreferences and look-around).
    /// Throws Error(BadInput) naming the problem if the pattern is invalid, too long or nested too deeply.
    explicit NamePattern(const std::string& pattern);
    ~NamePattern();
    NamePattern(NamePattern&&) noexcept;
    NamePattern& operator=(NamePattern&&) noexcept;

    /// Returns whether the pattern matches anywhere in the name or in the path of the node.
    bool matches(const Node& node) const;
    /// The same for the name alone, which other tools use.
    bool matchesName(const Node& node) const;

  private:
    std::unique_ptr<re2::RE2> m_regex;
};

}  // namespace quantloupe
