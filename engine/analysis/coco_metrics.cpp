// SPDX-License-Identifier: Apache-2.0
#include "analysis/coco_metrics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace quantloupe {
namespace {

constexpr std::size_t kMostPerCategory = 100;
constexpr std::size_t kRecallPoints = 101;

double cocoOverlap(const Detection& detection, const LabeledBox& label) {
    const double width =
        std::min(detection.x + detection.width, label.x + label.width) - std::max(detection.x, label.x);
    if (width <= 0) return 0;
    const double height =
        std::min(detection.y + detection.height, label.y + label.height) - std::max(detection.y, label.y);
    if (height <= 0) return 0;
    const double both = width * height, own = detection.width * detection.height;
    return both / (label.crowd ? own : own + label.width * label.height - both);
}

bool hasCocoArea(double area) {
    constexpr double kLargestArea = 1e10;  // areaRng "all" of COCOeval
    return area >= 0 && area <= kLargestArea;
}

/// Matches the detections of one category; labels that count come first.
void matchCategory(const std::vector<const LabeledBox*>& labels, const std::vector<const Detection*>& found,
                   std::vector<MatchedDetection>& result) {
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    const std::size_t first = result.size();
    for (const Detection* detection : found)
        result.push_back({detection->score, static_cast<std::uint32_t>(detection->category), 0, 0});
    std::vector<double> overlaps;
    for (const Detection* detection : found)
        for (const LabeledBox* label : labels) overlaps.push_back(cocoOverlap(*detection, *label));
    for (std::size_t t = 0; t < kIouThresholds; ++t) {
        std::vector<bool> taken(labels.size(), false);
        for (std::size_t d = 0; d < found.size(); ++d) {
            double best = std::min(iouThreshold(t), 1 - 1e-10);
            std::size_t match = kNone;
            for (std::size_t g = 0; g < labels.size(); ++g) {
                if (taken[g] && !labels[g]->crowd) continue;
                // Labels that do not count come last: they only match detections that match nothing else.
                if (match != kNone && counts(*labels[match]) && !counts(*labels[g])) break;
                const double overlap = overlaps[d * labels.size() + g];
                if (overlap < best) continue;
                best = overlap;
                match = g;
            }
            const auto bit = static_cast<std::uint16_t>(1U << t);
            if (match == kNone) {
                if (!hasCocoArea(found[d]->width * found[d]->height)) result[first + d].ignored |= bit;
                continue;
            }
            taken[match] = true;
            result[first + d].matched |= bit;
            if (!counts(*labels[match])) result[first + d].ignored |= bit;
        }
    }
}

/// Returns the precision averaged over the recall points. `right` and `wrong` count the detections so far;
/// both are empty or have one entry per detection that counts or not.
double averagedPrecision(const std::vector<std::pair<std::size_t, std::size_t>>& counts, std::size_t labels,
                         std::vector<double>& envelope) {
    envelope.resize(counts.size());
    for (std::size_t d = 0; d < counts.size(); ++d) {
        const auto right = static_cast<double>(counts[d].first),
                   wrong = static_cast<double>(counts[d].second);
        envelope[d] = right / (wrong + right + std::numeric_limits<double>::epsilon());
    }
    for (std::size_t d = counts.size(); d-- > 1;) envelope[d - 1] = std::max(envelope[d - 1], envelope[d]);
    double sum = 0;
    std::size_t d = 0;
    for (std::size_t r = 0; r < kRecallPoints; ++r) {
        const double wanted = r + 1 == kRecallPoints ? 1.0 : static_cast<double>(r) * 0.01;
        while (d < counts.size() &&
               static_cast<double>(counts[d].first) / static_cast<double>(labels) < wanted)
            ++d;
        if (d == counts.size()) break;
        sum += envelope[d];
    }
    return sum / kRecallPoints;
}

}  // namespace

double iouThreshold(std::size_t index) {
    constexpr double kFirst = 0.5, kLast = 0.95;
    if (index + 1 == kIouThresholds) return kLast;
    return static_cast<double>(index) * ((kLast - kFirst) / (kIouThresholds - 1)) + kFirst;
}

bool counts(const LabeledBox& label) { return !label.crowd && hasCocoArea(label.area); }

ImageMatches matchImage(const SampleAnnotation& annotation, std::span<const Detection> detections) {
    ImageMatches matches;
    matches.image = annotation.image;
    std::map<std::int32_t, std::pair<std::vector<const LabeledBox*>, std::vector<const Detection*>>>
        categories;
    for (const LabeledBox& label : annotation.boxes) {
        categories[static_cast<std::int32_t>(label.category)].first.push_back(&label);
        if (counts(label)) matches.labels.push_back(static_cast<std::uint32_t>(label.category));
    }
    for (const Detection& detection : detections) categories[detection.category].second.push_back(&detection);
    for (auto& [category, pair] : categories) {
        auto& [labels, found] = pair;
        std::stable_partition(labels.begin(), labels.end(), [](const auto* label) { return counts(*label); });
        std::stable_sort(found.begin(), found.end(),
                         [](const auto* a, const auto* b) { return a->score > b->score; });
        if (found.size() > kMostPerCategory) found.resize(kMostPerCategory);
        matchCategory(labels, found, matches.detections);
    }
    return matches;
}

AveragePrecision::AveragePrecision(std::span<const ImageMatches> images, std::size_t categories)
    : m_ranked(categories), m_labelImages(categories) {
    std::vector<std::size_t> order(images.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return images[a].image < images[b].image; });
    for (const std::size_t i : order) {
        for (const MatchedDetection& d : images[i].detections)
            if (d.category < categories) m_ranked[d.category].push_back({d.score, i, d.matched, d.ignored});
        for (const std::uint32_t label : images[i].labels) m_labelImages.at(label).push_back(i);
    }
    for (std::vector<Ranked>& ranked : m_ranked)
        std::stable_sort(ranked.begin(), ranked.end(),
                         [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
}

std::vector<CategoryPrecision> AveragePrecision::precision(std::size_t groups, std::size_t group) const {
    const auto leftOut = [&](std::size_t image) { return groups > 0 && image % groups == group; };
    std::vector<CategoryPrecision> result;
    std::vector<std::pair<std::size_t, std::size_t>> counts;
    std::vector<double> envelope;
    for (std::size_t c = 0; c < m_ranked.size(); ++c) {
        CategoryPrecision entry{c, 0, 0, 0};
        for (const std::size_t image : m_labelImages[c]) entry.labels += !leftOut(image);
        if (entry.labels == 0) continue;
        for (std::size_t t = 0; t < kIouThresholds; ++t) {
            counts.clear();
            std::size_t right = 0, wrong = 0;
            for (const Ranked& d : m_ranked[c]) {
                if (leftOut(d.image)) continue;
                if (((d.ignored >> t) & 1U) == 0) ++(((d.matched >> t) & 1U) != 0 ? right : wrong);
                counts.emplace_back(right, wrong);
            }
            const double ap = averagedPrecision(counts, entry.labels, envelope);
            entry.ap += ap / kIouThresholds;
            if (t == 0) entry.ap50 = ap;
        }
        result.push_back(entry);
    }
    return result;
}

std::optional<double> AveragePrecision::map(const std::vector<CategoryPrecision>& categories) {
    if (categories.empty()) return std::nullopt;
    double sum = 0;
    for (const CategoryPrecision& category : categories) sum += category.ap;
    return sum / static_cast<double>(categories.size());
}

std::optional<double> AveragePrecision::map50(const std::vector<CategoryPrecision>& categories) {
    if (categories.empty()) return std::nullopt;
    double sum = 0;
    for (const CategoryPrecision& category : categories) sum += category.ap50;
    return sum / static_cast<double>(categories.size());
}

std::vector<double> AveragePrecision::mapWithoutGroups(std::size_t groups) const {
    std::vector<double> values;
    for (std::size_t g = 0; g < groups; ++g) values.push_back(map(precision(groups, g)).value_or(0));
    return values;
}

}  // namespace quantloupe
