// SPDX-License-Identifier: Apache-2.0
#pragma once
// Back and forward through previous selections, as in a browser. An empty selection is not a step.

#include <QObject>
#include <vector>

#include "document/document.h"

namespace quantloupe::ui {

class SelectionHistory : public QObject {
    Q_OBJECT
  public:
    static constexpr std::size_t kMost = 500;

    explicit SelectionHistory(Document* document, QObject* parent = nullptr);
    bool canGoBack() const { return m_place > 1; }
    bool canGoForward() const { return m_place < m_steps.size(); }
    void back();
    void forward();

  Q_SIGNALS:
    void changed();

  private:
    struct Step {
        std::vector<NodeId> nodes;
        NodeId current;
        bool operator==(const Step&) const = default;
    };
    void remember();
    void go();

    Document* m_document;
    std::vector<Step> m_steps;
    std::size_t m_place = 0;  ///< number of steps up to the current one
    bool m_going = false;
};

}  // namespace quantloupe::ui
