// SPDX-License-Identifier: Apache-2.0
#include "session/adapt_config.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/skip_rules.h"

namespace quantloupe {
namespace {

class Adapter {
  public:
    Adapter(const LayerMatch& match, const Graph& graph) : m_match(match), m_graph(graph) {}

    AdaptedConfig run(const QuantizationConfig& config) {
        m_result.config = config;
        QuantizationConfig& next = m_result.config;
        keepNames(next.transforms.skipFolding, "keeping the batch norm of");
        equalization(next.transforms.equalization.off);
        rules(
            next.rules, +[](SkipRule& rule) -> SkipRule& { return rule; }, "the rule to skip");
        rules(
            next.precisionRules, +[](PrecisionRule& rule) -> SkipRule& { return rule.covers; },
            "the precision of");
        next.layers.clear();
        for (const auto& [name, settings] : config.layers) {
            if (const std::string* found = newName(name))
                next.layers[*found] = settings;
            else
                drop(fmt::format("the settings of layer '{}'", name));
        }
        return std::move(m_result);
    }

  private:
    const std::string* newName(const std::string& name) const {
        const auto found = m_match.newNames.find(name);
        return found == m_match.newNames.end() ? nullptr : &found->second;
    }
    void rename(SkipRule& rule) const {
        const auto to = [this](std::string& name) {
            if (const std::string* found = newName(name)) name = *found;
        };
        std::ranges::for_each(rule.layers, to);
        std::ranges::for_each(rule.to, to);
        to(rule.from);
    }
    void drop(std::string what) { m_result.dropped.push_back(std::move(what)); }

    void keepNames(std::vector<std::string>& names, const char* what) {
        std::vector<std::string> kept;
        for (const std::string& name : names) {
            if (const std::string* found = newName(name))
                kept.push_back(*found);
            else
                drop(fmt::format("{} layer '{}'", what, name));
        }
        names = std::move(kept);
    }

    void equalization(std::vector<std::vector<std::string>>& sets) {
        std::vector<std::vector<std::string>> kept;
        for (std::vector<std::string>& set : sets) {
            const std::size_t size = set.size();
            keepNames(set, "the equalization exclusion of");
            if (set.size() == size) kept.push_back(std::move(set));
        }
        sets = std::move(kept);
    }

    /// `ruleOf` returns the part of an entry that names layers; in messages, `what` precedes the description
    /// of the entry.
    template <typename Entry>
    void rules(std::vector<Entry>& entries, SkipRule& (*ruleOf)(Entry&), const char* what) {
        std::vector<Entry> kept;
        for (Entry& entry : entries) {
            SkipRule& rule = ruleOf(entry);
            if (const std::string* found = newName(rule.like)) rule.like = *found;
            if (rule.off) {  // may name layers that the model does not have
                rename(rule);
                kept.push_back(std::move(entry));
                continue;
            }
            const std::string words = describe(rule);
            keepNames(rule.layers, std::is_same_v<Entry, SkipRule> ? "skipping" : "the precision of");
            if (rule.kind == SkipKind::Node && rule.layers.empty()) continue;
            keepNames(rule.to, std::is_same_v<Entry, SkipRule> ? "skipping until" : "the precision until");
            if (!rule.from.empty()) {
                const std::string* found = newName(rule.from);
                if (found == nullptr) {
                    drop(fmt::format("{} {}: it starts at layer '{}'", what, words, rule.from));
                    continue;
                }
                rule.from = *found;
            }
            try {  // resolved separately, to find out whether the rule still has an effect
                coveredBy(m_graph, rule);
                kept.push_back(std::move(entry));
            } catch (const Error& error) {
                drop(fmt::format("{} {}: {}", what, words, error.message()));
            }
        }
        entries = std::move(kept);
    }

    const LayerMatch& m_match;
    const Graph& m_graph;
    AdaptedConfig m_result;
};

}  // namespace

AdaptedConfig adaptConfig(const QuantizationConfig& config, const LayerMatch& match, const Graph& graph) {
    return Adapter(match, graph).run(config);
}

}  // namespace quantloupe
