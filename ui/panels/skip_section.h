// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers that stay in float: the tail, the rules, and layers with their own setting.

#include <QVBoxLayout>
#include <functional>
#include <string>
#include <vector>

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class SkipSection : public QWidget {
    Q_OBJECT
  public:
    explicit SkipSection(Document* document, QWidget* parent = nullptr);

  private:
    using MakeEdit = std::function<ConfigEdit(const QuantizationConfig&)>;

    void refresh();
    std::vector<NodeSet> resolvedRules() const;
    void build();
    void addTail();
    void addRule(std::size_t i);
    void addLayerChoice(const std::string& name, bool quantized);
    ToggleSwitch* makeSwitch(bool on, const QString& name);
    QWidget* makeRemoveButton(const QString& what, const MakeEdit& edit);

    Document* m_document;
    SectionHeading* m_heading;
    QVBoxLayout* m_list;
    std::vector<ToggleSwitch*> m_switches;  ///< of the tail and of the rules
    std::size_t m_quantizable = 0;          ///< number of quantizable layers when the list was built
    std::vector<NodeSet> m_covered;         ///< the layers of each rule, as in the list
    QuantizationConfig m_built;
    bool m_any = false;
};

}  // namespace quantloupe::ui
