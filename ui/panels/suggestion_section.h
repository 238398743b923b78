// SPDX-License-Identifier: Apache-2.0
#pragma once
// Suggestions with their accuracy gain, each with a button that applies it.

#include <QVBoxLayout>

#include "document/document.h"
#include "models/suggestions.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class SuggestionSection : public QWidget {
    Q_OBJECT
  public:
    explicit SuggestionSection(Document* document, QWidget* parent = nullptr);
    const std::vector<Suggestion>& suggestions() const { return m_suggestions; }
    bool looking() const { return m_looking; }
    void look();

  private:
    void refresh();
    void showList();
    void measureNext();
    void add(Suggestion found);

    Document* m_document;
    QPushButton* m_look;
    QLabel* m_text;
    QVBoxLayout* m_list;
    std::vector<Suggestion> m_suggestions;         ///< that help, best first
    std::optional<QuantizationConfig> m_measured;  ///< configuration that the suggestions are for
    std::vector<Suggestion> m_candidates;          ///< of the search
    std::size_t m_next = 0;                        ///< candidate that is measured now or next
    bool m_looking = false;
};

}  // namespace quantloupe::ui
