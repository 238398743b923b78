// SPDX-License-Identifier: Apache-2.0
#include "search/tune.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "model/quantized_model.h"
#include "search/tune_measurements.h"
#include "search/tune_numbers.h"
#include "search/tune_transforms.h"
#include "session/studies/skip_groups.h"

namespace quantloupe {
namespace {

constexpr std::size_t kTriedRoughly = 8, kTriedWholly = 3;  // per step, on the rough and on all samples
constexpr std::size_t kBigOnes = 2;      // layers with the most gain regardless of cost that are tried, too
constexpr std::size_t kExchanged = 4;    // maximum number of layers that replace an expensive one
constexpr double kLeastExchanged = 0.1;  // minimum share of the set's weight of a layer to exchange
constexpr std::size_t kAtOnce = 8;       // see forward()
constexpr std::size_t kFew = 24;         // maximum number of candidates for fromAllFloat(), which is slow

class TuneRun {
  public:
    TuneRun(Session& session, const QuantizationConfig& config, const TuneOptions& options,
            const CancelToken& cancel)
        : m_session(session),
          m_options(options),
          m_cancel(cancel),
          m_measured(session, m_options, cancel),
          m_config(withRulesFixed(session, config, cancel)),
          m_rulesFixed(m_config != config) {
        m_options.improved = [this, improved = options.improved](const TuneResult& found) {
            if (improved) improved(completed(found));
        };
    }

    TuneResult run() {
        m_measured.start(m_config, {});
        try {
            search();
        } catch (const TuneLimit& limit) {
            m_end = limit.end;
        } catch (const Cancelled&) {
            m_end = TuneEnd::Cancelled;
        }
        return completed(m_measured.result());
    }

  private:
    TuneResult completed(TuneResult result) const {
        result.ended = m_end;
        result.steps = m_steps;
        if (m_rulesFixed)
            result.notices.emplace_back(
                "threshold rules were replaced with the layers that they cover, so that the result stays "
                "valid");
        return result;
    }

    void tell(TuneStage stage, std::size_t done = 0, std::size_t total = 0) const {
        if (m_options.progress) m_options.progress({stage, done, total, m_steps, m_here.metric});
    }

    void search() {
        m_here = m_measured.measure({});
        if (m_options.transforms && !withinDrop(m_here.drop, m_options.maxDrop)) {
            tell(TuneStage::Transforms);
            const TunedTransforms better = withHelpfulTransforms(m_session, m_config, m_cancel);
            if (!better.text.empty()) m_measured.start(better.config, better.text);
            m_here = m_measured.measure({});
        }
        const std::size_t count = m_measured.candidates().size();
        if (withinDrop(m_here.drop, m_options.maxDrop) || count == 0) return;
        const double least = m_measured.everythingInFloat().drop;
        // If the target cannot be reached, get as close as possible.
        m_goal = std::max(m_options.maxDrop, least);
        rankAlone();
        const TuneSet shortcut = shortestPrefix();
        std::vector<TuneSet> found = forward();
        if (!shortcut.empty()) found.push_back(shortcut);
        for (TuneSet& one : found) takeOut(one);
        TuneSet set = *std::ranges::min_element(found, {},
                                                [&](const TuneSet& one) { return m_measured.weightOf(one); });
        if (!withinDrop(least, m_options.maxDrop)) return;
        if (count > kFew) return exchange(set);
        for (TuneSet& one : found) exchange(one);
        fromAllFloat(set);
    }

    void rankAlone() {
        const std::size_t count = m_measured.candidates().size();
        m_gains.assign(count, {});
        std::vector<std::size_t> order;
        for (std::size_t c = 0; c < count; ++c) {
            tell(TuneStage::EachLayerAlone, c, count);
            if (!m_measured.hasLeaveOneOut(c)) m_gains[c].noise = roughNoiseGain({}, c, m_here);
            order.push_back(c);
        }
        sortByWorth(order, m_here);
        const std::size_t promising = (count + 1) / 2;
        for (std::size_t i = 0; i < count; ++i) {
            if (i >= promising && !m_measured.hasLeaveOneOut(order[i])) continue;
            tell(TuneStage::EachLayerAlone, i, count);
            const TuneNumbers alone = m_measured.measure({order[i]});
            m_gains[order[i]] = {m_here.drop - alone.drop, m_here.noise - alone.noise};
        }
    }

    /// Ranks the layers by the drop that each recovers alone per cost, and returns the shortest prefix that
    /// reaches the goal; empty if none does.
    TuneSet shortestPrefix() {
        std::vector<std::size_t> order;
        for (std::size_t c = 0; c < m_gains.size(); ++c)
            if (m_gains[c].drop > 0) order.push_back(c);
        std::ranges::stable_sort(order, std::greater<>(),
                                 [&](std::size_t c) { return m_gains[c].drop / weightOf(c); });
        const auto first = [&](std::size_t count) {
            return TuneSet(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
        };
        const auto enough = [&](std::size_t count) {
            return withinDrop(m_measured.measure(first(count)).drop, m_goal);
        };
        std::size_t few = 0, many = 1;  // bisection: `few` layers are not enough
        while (many < order.size() && !enough(many)) {
            few = many;
            many = std::min(order.size(), many * 2);
        }
        if (order.empty() || !enough(many)) return {};
        while (many - few > 1) (enough((few + many) / 2) ? many : few) = (few + many) / 2;
        return first(many);
    }

    /// Returns the noise that keeping `candidate` in float removes, measured on the rough samples and scaled
    /// to all samples.
    double roughNoiseGain(TuneSet set, std::size_t candidate, const TuneNumbers& here) {
        const double before = m_measured.measureRoughly(set).noise;
        set.insert(candidate);
        return before > 0 ? (before - m_measured.measureRoughly(set).noise) / before * here.noise : 0;
    }

    /// Returns the mean of the shares of drop and noise that keeping the layer in float removes.
    double gainOf(std::size_t candidate, const TuneNumbers& here) const {
        const Gain& gain = m_gains[candidate];
        return (here.drop > 0 ? gain.drop / here.drop : 0) / 2 +
               (here.noise > 0 ? gain.noise / here.noise : 0) / 2;
    }
    double worthOf(std::size_t candidate, const TuneNumbers& here) const {
        const double gain = gainOf(candidate, here), weight = m_measured.candidates()[candidate].weight;
        return gain > 0 ? gain / weight : gain * weight;
    }
    /// Sorts by gain per cost, best first.
    void sortByWorth(std::vector<std::size_t>& candidates, const TuneNumbers& here) const {
        std::ranges::stable_sort(candidates, std::greater<>(),
                                 [&](std::size_t c) { return worthOf(c, here); });
    }

    /// Adds the layers with the most gain per cost until the goal is reached. If a single expensive layer
    /// reaches it sooner, returns that set, too.
    std::vector<TuneSet> forward() {
        TuneSet set;
        std::vector<TuneSet> found;
        while (!withinDrop(m_here.drop, m_goal)) {
            if (!found.empty() && m_measured.weightOf(set) >= m_measured.weightOf(found.front()))
                return found;
            if (m_options.maxSteps > 0 && m_steps == m_options.maxSteps) throw TuneLimit{TuneEnd::Steps};
            ++m_steps;
            tell(TuneStage::Adding, set.size(), m_measured.candidates().size());
            const std::vector<std::size_t> tried = tryNext(set);
            for (const std::size_t c : tried) {
                TuneSet with = set;
                with.insert(c);
                if (withinDrop(m_measured.measure(with).drop, m_goal) &&
                    (found.empty() || m_measured.weightOf(with) < m_measured.weightOf(found.front())))
                    found = {with};
            }
            // Adds one layer, plus up to an eighth of the size of the set; unneeded layers are removed later.
            const std::size_t most = 1 + set.size() / kAtOnce;
            set.insert(tried.front());
            for (std::size_t i = 1; i < std::min(tried.size(), most); ++i)
                if (gainOf(tried[i], m_here) > 0) set.insert(tried[i]);
            m_here = m_measured.measureAndKeep(set);
        }
        found.push_back(std::move(set));
        return found;
    }

    /// Returns the most promising layers, evaluated on all samples, best first.
    std::vector<std::size_t> tryNext(const TuneSet& set) {
        std::vector<std::size_t> left;
        for (std::size_t c = 0; c < m_gains.size(); ++c)
            if (!set.contains(c)) left.push_back(c);
        sortByWorth(left, m_here);
        std::vector<std::size_t> tried(
            left.begin(), left.begin() + static_cast<std::ptrdiff_t>(std::min(kTriedRoughly, left.size())));
        std::ranges::stable_sort(left, std::greater<>(), [&](std::size_t c) { return gainOf(c, m_here); });
        for (std::size_t i = 0; i < std::min(kBigOnes, left.size()); ++i)
            if (std::ranges::count(tried, left[i]) == 0) tried.push_back(left[i]);
        if (tried.size() > kTriedWholly) {
            for (const std::size_t c : tried) m_gains[c].noise = roughNoiseGain(set, c, m_here);
            sortByWorth(tried, m_here);
            tried.resize(kTriedWholly);
        }
        for (const std::size_t c : tried) {
            TuneSet with = set;
            with.insert(c);
            const TuneNumbers measured = m_measured.measure(with);
            m_gains[c] = {m_here.drop - measured.drop, m_here.noise - measured.noise};
        }
        sortByWorth(tried, m_here);
        return tried;
    }

    bool reachesGoal(const TuneSet& set) {
        const TuneNumbers measured = m_measured.measure(set);
        return withinDrop(measured.drop, m_goal) && withinDrop(m_measured.measureAndKeep(set).drop, m_goal);
    }

    double weightOf(std::size_t candidate) const { return m_measured.candidates()[candidate].weight; }
    std::vector<std::size_t> heaviestFirst(const TuneSet& set) const {
        std::vector<std::size_t> order(set.begin(), set.end());
        std::ranges::stable_sort(order, std::greater<>(),
                                 [&](std::size_t c) { return m_measured.candidates()[c].weight; });
        return order;
    }

    void takeOut(TuneSet& set) {
        const std::vector<std::size_t> order = heaviestFirst(set);
        for (std::size_t i = 0; i < order.size(); ++i) {
            tell(TuneStage::Removing, i, order.size());
            TuneSet without = set;
            without.erase(order[i]);
            if (reachesGoal(without)) set = std::move(without);
        }
    }

    void exchange(TuneSet& set) {
        bool changed = false;
        const std::vector<std::size_t> order = heaviestFirst(set);
        const double worthwhile = m_measured.weightOf(set) * kLeastExchanged;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (weightOf(order[i]) < worthwhile) break;
            tell(TuneStage::Exchanging, i, order.size());
            changed = exchangeOne(set, order[i]) || changed;
        }
        if (changed) takeOut(set);
    }

    /// Replaces the layer with up to four layers that together cost less.
    bool exchangeOne(TuneSet& set, std::size_t out) {
        TuneSet trial = set;
        trial.erase(out);
        double room = weightOf(out);
        for (std::size_t added = 0; added < kExchanged; ++added) {
            const TuneNumbers here =
                added == 0 ? m_measured.measureAndKeep(trial) : m_measured.measure(trial);
            std::vector<std::size_t> lighter;
            for (std::size_t c = 0; c < m_gains.size(); ++c)
                if (c != out && !trial.contains(c) && weightOf(c) < room) lighter.push_back(c);
            if (lighter.empty()) return false;
            sortByWorth(lighter, here);
            std::stable_sort(
                lighter.begin() + static_cast<std::ptrdiff_t>(std::min(kTriedWholly, lighter.size())),
                lighter.end(),
                [&](std::size_t a, std::size_t b) { return m_gains[a].noise > m_gains[b].noise; });
            // The best by gain per cost, and as many that remove the most noise regardless of cost.
            lighter.resize(std::min(2 * kTriedWholly, lighter.size()));
            for (const std::size_t c : lighter) {
                TuneSet with = trial;
                with.insert(c);
                const TuneNumbers measured = m_measured.measure(with);
                m_gains[c] = {here.drop - measured.drop, here.noise - measured.noise};
                if (!withinDrop(measured.drop, m_goal) || !reachesGoal(with)) continue;
                set = std::move(with);
                return true;
            }
            sortByWorth(lighter, here);
            trial.insert(lighter.front());
            room -= weightOf(lighter.front());
        }
        return false;
    }

    /// Starts from the all-float network and quantizes one layer after another while the goal is met,
    /// expensive layers with little gain first.
    void fromAllFloat(TuneSet& set) {
        std::vector<std::size_t> order(m_gains.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        const TuneNumbers start = m_measured.measure({});
        sortByWorth(order, start);
        std::ranges::reverse(order);
        TuneSet kept(order.begin(), order.end());
        for (std::size_t i = 0; i < order.size(); ++i) {
            tell(TuneStage::FromAllFloat, i, order.size());
            TuneSet without = kept;
            without.erase(order[i]);
            if (withinDrop(m_measured.measure(without).drop, m_goal)) kept = std::move(without);
        }
        if (m_measured.weightOf(kept) >= m_measured.weightOf(set) || !reachesGoal(kept)) return;
        set = std::move(kept);
        exchange(set);
    }

    struct Gain {
        double drop = 0,
               noise = 0;  ///< drop and noise that keeping the layer in float removes, as last measured
    };

    Session& m_session;
    TuneOptions m_options;
    const CancelToken& m_cancel;
    TuneMeasurements m_measured;
    const QuantizationConfig m_config;
    const bool m_rulesFixed;
    TuneNumbers m_here;  ///< of the current set
    std::vector<Gain> m_gains;
    double m_goal = 0;
    std::size_t m_steps = 0;
    TuneEnd m_end = TuneEnd::Finished;
};

}  // namespace

TuneResult tune(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                const CancelToken& cancel) {
    if (!session.hasData()) failInput("tuning needs data: choose a data folder first");
    if (session.randomInputs()) failInput("tuning needs real data: accuracy on random inputs is meaningless");
    if (quantizationOperators(session.graph()) > 0)
        failInput("the model is already quantized; to tune, open the original float model");
    if (!(options.maxDrop >= 0)) failInput("the maximum drop must be at least 0 points");
    return TuneRun(session, config, options, cancel).run();
}

}  // namespace quantloupe
