// SPDX-License-Identifier: Apache-2.0
#include "document/layer_latency.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"
#include "document/document.h"
#include "session/studies/layer_work.h"

namespace quantloupe::ui {

namespace {

/// Later times replace earlier ones of the same layer and precision.
void merge(LatencySource& into, LatencySource more) {
    std::set<std::pair<std::string, std::optional<Precision>>> newer;
    for (const LatencyRow& row : more.file.rows) newer.emplace(row.name, row.precision);
    std::erase_if(into.file.rows, [&](const LatencyRow& row) {
        return newer.contains({row.name, row.precision});
    });
    into.file.rows.insert(into.file.rows.end(), more.file.rows.begin(), more.file.rows.end());
    into.file.runs = more.file.runs;
}

void addTo(std::vector<LatencySource>& sources, LatencySource source) {
    const auto same = std::ranges::find_if(sources, [&](const LatencySource& known) {
        return known.name == source.name && !known.file.rows.empty() && !source.file.rows.empty();
    });
    if (same == sources.end()) return sources.push_back(std::move(source));
    merge(*same, std::move(source));
    std::rotate(same, same + 1, sources.end());  // the last one counts
}

}  // namespace

Precision runningPrecision(const LayerResult& layer) {
    if (layer.state == LayerState::Quantized || layer.precision == Precision::float16())
        return layer.precision;
    return Precision::float32();
}

LayerLatency::LayerLatency(Document* document) : m_document(document) {
    // Updates after an evaluation, and after an export, because both drop queries.
    connect(document->job(), &EvaluationJob::busyChanged, this, [this](bool busy) {
        if (!busy) update();
    });
}

std::optional<LatencyCell> LayerLatency::of(const LayerResult& layer) const {
    if (!m_table || !layer.node.valid() || !m_table->computes(layer.node.index())) return std::nullopt;
    return m_table->at(layer.node.index(), runningPrecision(layer));
}

std::vector<std::optional<double>> LayerLatency::valuesOf(const std::vector<LayerResult>& layers) const {
    std::vector<std::optional<double>> values;
    values.reserve(layers.size());
    for (const LayerResult& layer : layers) {
        const auto cell = of(layer);
        values.push_back(cell ? std::optional(cell->ms) : std::nullopt);
    }
    return values;
}

std::optional<LatencySum> LayerLatency::sum(const std::vector<LayerResult>& layers) const {
    if (!m_table || layers.empty()) return std::nullopt;
    LatencySum sum;
    for (const LayerResult& layer : layers) {
        const auto cell = of(layer);
        if (!cell) continue;
        sum.ms += cell->ms;
        sum.floatMs += m_table->at(layer.node.index(), Precision::float32()).ms;
        if (cell->estimated) sum.estimatedMs += cell->ms;
        // Estimates of 0, as for Flatten, do not count in the number of layers that are measured or
        // estimated.
        if (cell->estimated && cell->ms == 0) continue;
        ++sum.layers;
        sum.measured += !cell->estimated;
    }
    return sum;
}

void LayerLatency::add(LatencySource source) {
    m_waiting.push_back(std::move(source));
    update();
}

void LayerLatency::remove(std::size_t index) {
    if (index >= m_sources.size()) return;
    m_sources.erase(m_sources.begin() + static_cast<std::ptrdiff_t>(index));
    m_builtFor.reset();
    m_document->job()->dropQuery(QuerySlot::Latency);  // its answer would bring the profile back
    m_document->markProjectChanged();
    if (m_sources.empty()) m_table.reset();
    Q_EMIT changed();
    update();
}

void LayerLatency::restore(std::vector<LatencySource> sources) {
    m_sources = std::move(sources);
    m_waiting.clear();
    m_table.reset();
    m_builtFor.reset();
    Q_EMIT changed();
}

/// Returns a version of everything that the table depends on besides the profiles.
Version LayerLatency::hostsVersion() const {
    VersionBuilder builder;
    for (const LayerResult& layer : m_document->layers()) {
        const bool inside = layer.state == LayerState::Folded || layer.state == LayerState::Fused;
        builder.add(inside).add(inside ? std::string_view(layer.host) : std::string_view()).add(layer.macs);
    }
    return builder.finish();
}

void LayerLatency::update() {
    if (m_sources.empty() && m_waiting.empty()) return;
    const EvaluationPtr evaluation = m_document->evaluation();
    if (!evaluation || m_document->evaluating()) return;  // update() is called again after the evaluation
    const Version hosts = hostsVersion();
    if (m_waiting.empty() && m_builtFor == hosts) return;
    m_document->job()->query(
        QuerySlot::Latency,
        [this, evaluation, hosts, sources = m_sources, waiting = m_waiting](
            Session& session, const CancelToken&) -> std::function<void()> {
            const NetworkWork work = networkWork(session, *evaluation);
            Built built;
            const auto use = [&](LatencySource source, bool isNew) {
                try {
                    if (isNew) source = withPrecisions(std::move(source), session.graph(), work);
                    // Throws if the source does not fit this network.
                    [[maybe_unused]] const LatencyTable table(session.graph(), work, {source});
                    addTo(built.sources, std::move(source));
                } catch (const Error& error) {
                    built.problems.append(
                        tr("The latency profile %1 cannot be used: %2.")
                            .arg(QString::fromStdString(source.name), QString::fromUtf8(error.what())));
                }
            };
            for (const LatencySource& source : sources) use(source, false);
            for (const LatencySource& source : waiting) use(source, true);
            if (!built.sources.empty())
                built.table = std::make_shared<const LatencyTable>(session.graph(), work, built.sources);
            return [this, built, hosts, added = waiting.size()] {
                m_builtFor = hosts;
                adopt(built, added);
            };
        });
}

void LayerLatency::adopt(const Built& built, std::size_t added) {
    m_waiting.erase(m_waiting.begin(), m_waiting.begin() + static_cast<std::ptrdiff_t>(added));
    m_sources = built.sources;
    m_table = built.table;
    if (added > 0) m_document->markProjectChanged();
    if (!built.problems.isEmpty())
        m_document->say(MessageKind::Error, built.problems.join(QLatin1Char('\n')));
    else if (added > 0 && m_table)
        m_document->say(MessageKind::Note,
                        tr("Latency: %1.").arg(QString::fromStdString(m_table->summary())));
    Q_EMIT changed();
    update();  // for profiles added meanwhile
}

}  // namespace quantloupe::ui
