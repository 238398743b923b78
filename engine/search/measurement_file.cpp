// SPDX-License-Identifier: Apache-2.0
#include "search/measurement_file.h"

#include <cmath>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/process_group.h"
#include "base/strict_json.h"
#include "session/studies/search_context.h"

namespace quantloupe {
namespace {

constexpr double kSaveSeconds = 3;
constexpr std::size_t kMaxContexts = 8;

}  // namespace

MeasurementFile::MeasurementFile(Session& session, MeasurementFileOptions options)
    : m_options(std::move(options)), m_group(session.group()) {
    if (!enabled()) return;
    const auto fromFirst = [this](const char* what, const std::function<std::string()>& make) {
        return m_group == nullptr ? make() : m_group->fromFirst(what, make);
    };
    m_context = fromFirst("context", [&] {
        return VersionBuilder()
            .add(searchContext(session))
            .add(m_options.format)
            .add(std::string_view(m_options.program))
            .finish()
            .hex();
    });
    const std::string text = fromFirst("measurements", [&] {
        std::error_code ignored;
        return std::filesystem::exists(m_options.path, ignored) ? readFile(m_options.path) : std::string();
    });
    if (!text.empty()) read(text);
}

void MeasurementFile::failDamaged() const {
    failInput("'{}' does not contain the evaluations of a search; delete it to start again",
              m_options.path.string());
}

void MeasurementFile::read(const std::string& text) {
    try {
        const Json json = parseStrictJson(text);
        if (!json.is_object() || !json.contains(m_options.kind))
            failInput("this file does not contain the evaluations of a search");
        if (json.at(m_options.kind) == m_options.format)
            for (const Json& section : json.at("sections")) {
                if (section.at("context") == m_context)
                    m_all = section.at("measurements").get<Measurements>();
                else
                    m_others.push_back(section);
            }
        // The latest sections are at the end.
        if (m_others.size() >= kMaxContexts)
            m_others.erase(m_others.begin(), m_others.end() - (kMaxContexts - 1));
        if (m_options.reuse && m_all.empty())
            m_unusable = fmt::format(
                "the evaluations in '{}' belong to another model, other data, another metric, another "
                "arithmetic or another version of Quantloupe, so none of them is reused",
                m_options.path.string());
        if (m_options.reuse) m_earlier = m_all;
    } catch (const Json::exception&) {
        failDamaged();
    } catch (Error& error) {
        throw error.addContext(fmt::format("measurements '{}'", m_options.path.string()));
    }
}

void MeasurementFile::add(const std::string& key, Json measured) {
    if (!enabled()) return;
    m_all.insert_or_assign(key, std::move(measured));
    ++m_unsaved;
    if (m_watch.seconds() - m_savedAt >= kSaveSeconds) save();
}

void MeasurementFile::save() noexcept {
    if (!enabled() || m_unsaved == 0 || (m_group != nullptr && m_group->rank() != 0)) return;
    m_savedAt = m_watch.seconds();
    try {
        OrderedJson json = {{m_options.kind, m_options.format}, {"sections", m_others}};
        json["sections"].push_back({{"context", m_context}, {"measurements", m_all}});
        writeFileAtomically(m_options.path, json.dump(1) + "\n");
        m_unsaved = 0;
        m_unsavable.clear();
    } catch (const std::exception& error) {
        m_unsavable = fmt::format("the evaluations were not saved: {}", error.what());
    }
}

std::vector<std::string> MeasurementFile::notices() const {
    std::vector<std::string> all{m_unusable, m_unsavable};
    std::erase(all, "");
    return all;
}

Json measuredNumber(const std::optional<double>& value) {
    if (!value || std::isnan(*value)) return nullptr;
    if (std::isinf(*value)) return *value > 0 ? "infinite" : "-infinite";
    return *value;
}

std::optional<double> measuredNumber(const Json& object, const char* key) {
    const Json& value = object.at(key);
    if (value.is_null()) return std::nullopt;
    if (value.is_string()) return value == "infinite" ? INFINITY : -INFINITY;
    return value.get<double>();
}

}  // namespace quantloupe
