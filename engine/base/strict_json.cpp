// SPDX-License-Identifier: Apache-2.0
#include "base/strict_json.h"

#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace quantloupe {
namespace {

constexpr int kDeepest = 32;
constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;

/// Checks depth and duplicate keys during parsing and keeps track of the current path.
class JsonGuard {
  public:
    template <typename Json>
    bool operator()(int depth, nlohmann::detail::parse_event_t event, const Json& parsed) {
        using Event = nlohmann::detail::parse_event_t;
        if (depth > kDeepest) failInput("the JSON is nested more than {} levels deep", kDeepest);
        if (event == Event::object_start) m_open.emplace_back();
        if (event == Event::object_end) m_open.pop_back();
        if (event == Event::key) {
            Level& level = m_open.back();
            level.key = parsed.template get<std::string>();
            if (!level.seen.insert(level.key).second) failInput("duplicate key '{}': remove one", path());
        }
        return true;
    }

  private:
    struct Level {
        std::set<std::string> seen;
        std::string key;
    };
    std::string path() const {
        std::string result;
        for (const Level& level : m_open) result += (result.empty() ? "" : ".") + level.key;
        return result;
    }
    std::vector<Level> m_open;
};

template <typename Json>
Json parse(std::string_view text) {
    if (text.size() > kMaxJsonBytes)
        failInput("this is {} MiB of JSON, and the limit is {} MiB", text.size() >> 20, kMaxJsonBytes >> 20);
    try {
        JsonGuard guard;
        return Json::parse(text, [&](int depth, typename Json::parse_event_t event, Json& parsed) {
            return guard(depth, event, parsed);
        });
    } catch (const typename Json::exception& error) {
        // Removes the prefix of "[json.exception.parse_error.101] parse error at line 1, column 5: ...".
        std::string message = error.what();
        if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
        failInput("this is not valid JSON: {}", message);
    }
}

}  // namespace

Json parseStrictJson(std::string_view text) { return parse<Json>(text); }
OrderedJson parseOrderedJson(std::string_view text) { return parse<OrderedJson>(text); }

}  // namespace quantloupe
