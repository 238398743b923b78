// SPDX-License-Identifier: Apache-2.0
#include "session/layer_match.h"

#include <algorithm>

namespace quantloupe {
namespace {

/// Matches names like "Conv_12" for a Conv, which unnamed nodes get on loading and some exporters give to all
/// nodes, and "node_conv2d_12" of PyTorch's newer exporter.
bool isNumbered(const LayerSignature& layer) {
    const std::string& name = layer.name;
    if (name.starts_with("node_")) return true;
    return name.size() > layer.op.size() + 1 && name.starts_with(layer.op) && name[layer.op.size()] == '_' &&
           std::all_of(name.begin() + static_cast<std::ptrdiff_t>(layer.op.size()) + 1, name.end(),
                       [](char c) { return (c >= '0' && c <= '9') || c == '_'; });
}

class Matcher {
  public:
    Matcher(const std::vector<LayerSignature>& before, const std::vector<LayerSignature>& now)
        : m_before(before), m_now(now), m_newOf(before.size(), kNone), m_taken(now.size(), false) {
        for (std::size_t i = 0; i < now.size(); ++i) m_byName[now[i].name] = i;
    }

    LayerMatch run() {
        byName([](const LayerSignature& layer) { return !isNumbered(layer); });
        inOrder(0, m_before.size(), 0, m_now.size(), &LayerSignature::wide);
        betweenMatches(&LayerSignature::local);
        const std::map<std::string, std::size_t> opsBefore = countOps(m_before), opsNow = countOps(m_now);
        byName([&](const LayerSignature& layer) {
            const auto now = opsNow.find(layer.op);
            return now != opsNow.end() && now->second == opsBefore.at(layer.op);
        });
        LayerMatch match;
        for (std::size_t i = 0; i < m_before.size(); ++i) {
            if (m_newOf[i] == kNone)
                match.unmatched.push_back(m_before[i].name);
            else
                match.newNames[m_before[i].name] = m_now[m_newOf[i]].name;
        }
        for (std::size_t i = 0; i < m_now.size(); ++i)
            if (!m_taken[i]) match.added.push_back(m_now[i].name);
        return match;
    }

  private:
    static constexpr std::size_t kNone = std::size_t(-1);

    void match(std::size_t before, std::size_t now) {
        m_newOf[before] = now;
        m_taken[now] = true;
    }

    template <typename Trusted>
    void byName(Trusted trusted) {
        for (std::size_t i = 0; i < m_before.size(); ++i) {
            if (m_newOf[i] != kNone || !trusted(m_before[i])) continue;
            const auto found = m_byName.find(m_before[i].name);
            if (found == m_byName.end() || m_taken[found->second]) continue;
            if (m_now[found->second].op == m_before[i].op) match(i, found->second);
        }
    }

    /// Matches layers with equal hashes in the two ranges in order, if both ranges have the same number of
    /// them.
    void inOrder(std::size_t begin, std::size_t end, std::size_t nowBegin, std::size_t nowEnd,
                 Version LayerSignature::*hash) {
        std::map<Version, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> groups;
        for (std::size_t i = begin; i < end; ++i)
            if (m_newOf[i] == kNone) groups[m_before[i].*hash].first.push_back(i);
        for (std::size_t i = nowBegin; i < nowEnd; ++i)
            if (!m_taken[i]) groups[m_now[i].*hash].second.push_back(i);
        for (const auto& [version, group] : groups) {
            if (group.first.size() != group.second.size()) continue;
            for (std::size_t k = 0; k < group.first.size(); ++k) match(group.first[k], group.second[k]);
        }
    }

    /// Does the same in each range between two layers that are already matched.
    void betweenMatches(Version LayerSignature::*hash) {
        const std::vector<std::size_t> fixed = m_newOf;
        std::size_t nowBegin = 0;
        for (std::size_t i = 0; i < fixed.size(); ++i) {
            if (fixed[i] != kNone) {
                nowBegin = fixed[i] + 1;
                continue;
            }
            std::size_t end = i;
            while (end < fixed.size() && fixed[end] == kNone) ++end;
            const std::size_t nowEnd = end < fixed.size() ? fixed[end] : m_now.size();
            if (nowBegin < nowEnd) inOrder(i, end, nowBegin, nowEnd, hash);
            i = end - 1;
        }
    }

    static std::map<std::string, std::size_t> countOps(const std::vector<LayerSignature>& layers) {
        std::map<std::string, std::size_t> counts;
        for (const LayerSignature& layer : layers) ++counts[layer.op];
        return counts;
    }

    const std::vector<LayerSignature>& m_before;
    const std::vector<LayerSignature>& m_now;
    std::vector<std::size_t> m_newOf;
    std::vector<bool> m_taken;
    std::map<std::string, std::size_t> m_byName;
};

}  // namespace

bool LayerMatch::unchanged() const {
    return unmatched.empty() && added.empty() &&
           std::ranges::all_of(newNames, [](const auto& entry) { return entry.first == entry.second; });
}

LayerMatch matchLayers(const std::vector<LayerSignature>& before, const std::vector<LayerSignature>& now) {
    return Matcher(before, now).run();
}

}  // namespace quantloupe
