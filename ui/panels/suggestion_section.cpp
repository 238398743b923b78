// SPDX-License-Identifier: Apache-2.0
#include "panels/suggestion_section.h"

#include <algorithm>
#include <functional>

namespace quantloupe::ui {

namespace {
constexpr std::size_t kShown = 5;
}  // namespace

SuggestionSection::SuggestionSection(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 3);
    m_text = makeLabel({}, "faint", 0.92);
    m_text->setWordWrap(true);
    m_list = new QVBoxLayout;
    m_list->setSpacing(unit / 3);
    rows->addLayout(m_list);
    m_look = new QPushButton(tr("Search for Improvements"));
    m_look->setToolTip(
        tr("Tries transforms, schemes and the worst layers one by one on all evaluation samples; an edit "
           "stops it"));
    auto* bottom = new QHBoxLayout;  // below the list, so that a longer text moves nothing
    bottom->setSpacing(unit / 2);
    bottom->addWidget(m_look);
    bottom->addWidget(m_text, 1);
    rows->addLayout(bottom);
    connect(m_look, &QPushButton::clicked, this, &SuggestionSection::look);
    connect(document, &Document::configChanged, this, [this] {
        m_looking = false;  // the evaluation that follows has cancelled the query
        refresh();
    });
    connect(document, &Document::evaluationChanged, this, &SuggestionSection::refresh);
    connect(document->job(), &EvaluationJob::queriesDropped, this, [this] {
        m_looking = false;
        refresh();
    });
    const auto forget = [this] {
        m_looking = false;
        m_measured.reset();
        m_suggestions.clear();
        m_candidates.clear();
        m_next = 0;
        showList();
        refresh();
    };
    connect(document, &Document::modelChanged, this, forget);
    connect(document, &Document::dataChanged, this, forget);
    connect(document, &Document::metricProgramChanged, this, forget);
    refresh();
}

void SuggestionSection::look() {
    if (m_looking) {
        m_document->job()->dropQuery(QuerySlot::Suggestions);
        m_looking = false;
        return refresh();
    }
    m_measured = m_document->config();
    m_suggestions.clear();
    m_candidates = candidateEdits(*m_measured, m_document->layers());
    m_next = 0;
    m_looking = true;
    showList();
    measureNext();
}

/// One query for each candidate, so that other queries do not wait for the whole search.
void SuggestionSection::measureNext() {
    m_looking = m_next < m_candidates.size();
    refresh();
    if (!m_looking) return;
    m_document->job()->query(
        QuerySlot::Suggestions,
        [this, config = *m_measured, candidate = m_candidates[m_next]](
            Session& session, const CancelToken& cancel) -> std::function<void()> {
            return [this, found = measureSuggestion(session, config, candidate, cancel)] {
                ++m_next;
                if (found) add(*found);
                measureNext();
            };
        },
        [this](const QString& refusal) {
            m_looking = false;
            refresh();
            m_text->setText(sentence(refusal));
            m_text->show();
        });
}

void SuggestionSection::add(Suggestion found) {
    const auto place =
        std::ranges::upper_bound(m_suggestions, found.gain, std::greater<>(), &Suggestion::gain);
    m_suggestions.insert(place, std::move(found));
    showList();
}

void SuggestionSection::showList() {
    clearLayout(m_list);
    const int unit = fontMetrics().height();
    for (std::size_t i = 0; i < std::min(kShown, m_suggestions.size()); ++i) {
        const Suggestion& suggestion = m_suggestions[i];
        auto* card = new QFrame;
        card->setObjectName(QStringLiteral("card"));
        card->setToolTip(suggestion.why);
        auto* row = new QHBoxLayout(card);
        row->setContentsMargins(unit / 2, unit / 3, unit / 2, unit / 3);
        auto* texts = new QVBoxLayout;
        texts->setSpacing(0);
        const QString text = m_document->withLayerNames(suggestion.title);
        auto* title = makeLabel({}, "");
        title->setWordWrap(true);
        setBreakableText(title, text);
        auto* verdict = makeLabel(suggestion.verdict, suggestion.certain ? "good" : "muted", 0.88);
        verdict->setWordWrap(true);
        texts->addWidget(title);
        texts->addWidget(verdict);
        row->addLayout(texts, 1);
        auto* button = new QPushButton(tr("Try It"));
        button->setAccessibleName(tr("Try: ") + text);
        row->addWidget(button);
        connect(button, &QPushButton::clicked, this,
                [this, edit = suggestion.edit] { m_document->edit(edit); });
        m_list->addWidget(card);
    }
}

void SuggestionSection::refresh() {
    const bool ready = m_document->hasModel() && m_document->evaluation() && !m_document->evaluating();
    const bool old = m_measured && *m_measured != m_document->config();
    m_look->setEnabled(ready || m_looking);
    m_look->setText(m_looking ? tr("Stop") : m_measured ? tr("Search Again") : tr("Search for Improvements"));
    for (int i = 0; i < m_list->count(); ++i)
        if (QWidget* card = m_list->itemAt(i)->widget()) card->setEnabled(!old);
    const bool complete = m_next == m_candidates.size();
    m_text->setText(m_looking     ? tr("trying %1 of %2\u2026").arg(m_next + 1).arg(m_candidates.size())
                    : !m_measured ? QString()
                    : old         ? tr("for the previous configuration")
                    : !complete   ? tr("stopped: %1 of %2 tried").arg(m_next).arg(m_candidates.size())
                    : m_suggestions.empty() ? tr("No candidate improved accuracy")
                                            : QString());
    m_text->setVisible(!m_text->text().isEmpty());
}

}  // namespace quantloupe::ui
