// SPDX-License-Identifier: Apache-2.0
// The inspector's facts about a layer that no evaluation changes: names, tensors, attributes, comment.

#include "interchange/clika/clika_names.h"
#include "model/layer_names.h"
#include "models/input_roles.h"
#include "panels/inspector.h"
#include "style/path_text.h"
#include "style/theme.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

QString shapeText(const TensorInfo& tensor) {
    QString text = tensor.shape ? QString::fromStdString(toString(*tensor.shape)) : Words::tr("unknown");
    if (tensor.type != DataType::Undefined && tensor.type != DataType::Float32)
        text += QLatin1Char(' ') + viewText(dataTypeName(tensor.type));
    return text;
}

void clearForm(QFormLayout* form) {
    while (form->rowCount() > 0) form->removeRow(0);
}

}  // namespace

void Inspector::addFact(const QString& name, const QString& value, const std::string& tensor) {
    auto* label = makeLabel(value, "");
    label->setToolTip(value);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setFont(numberFont(font()));
    m_facts->addRow(makeLabel(name, "muted"), label);
    if (tensor.empty()) return;
    auto* below = new ElidedLabel(QString::fromStdString(tensor), Qt::ElideMiddle);
    setRole(below, "muted");
    below->setFont(scaledFont(font(), 0.88));
    m_facts->addRow(new QWidget, below);
}

void Inspector::showStructure(const Node& node) {
    const Graph& graph = *m_document->graph();
    setBreakableText(m_name, m_document->layerName(m_shown));
    setBreakableText(m_fullName, QString::fromStdString(node.name));
    clearForm(m_facts);
    clearForm(m_attributes);
    QString kind = QString::fromStdString(node.op);
    if (!node.domain.empty()) kind += QStringLiteral(" \u00b7 ") + QString::fromStdString(node.domain);
    m_kind->setText(kind);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i].valid()) continue;
        const TensorInfo& tensor = graph.tensor(node.inputs[i]);
        const QString role = tensor.constant ? inputRole(node, i) : QString();
        const QString name = !role.isEmpty() ? role : tensor.constant ? tr("constant") : tr("input");
        addFact(
            name,
            tensor.constant ? QString::fromStdString(toString(tensor.constant->dims())) : shapeText(tensor),
            tensor.name);
    }
    for (const TensorId id : node.outputs)
        if (id.valid()) addFact(tr("output"), shapeText(graph.tensor(id)), graph.tensor(id).name);
    if (!node.modulePath.empty()) {
        auto* module = makeLabel({}, "");
        module->setWordWrap(true);
        module->setTextInteractionFlags(Qt::TextSelectableByMouse);
        setBreakableText(module, QString::fromStdString(moduleOf(node)));
        m_facts->addRow(makeLabel(tr("module"), "muted"), module);
    }
    addFact(tr("in CLIKA"), QString::fromStdString(ClikaNames(graph).of(m_shown)));
    for (const auto& [name, value] : node.attributes) {
        auto* label = makeLabel(QString::fromStdString(toString(value)), "");
        label->setWordWrap(true);
        label->setFont(numberFont(font()));
        label->setToolTip(label->text());
        m_attributes->addRow(makeLabel(QString::fromStdString(name), "muted"), label);
    }
    m_attributesHeading->setRemark(node.attributes.empty() ? tr("none") : QString());
    const LayerSettings* const settings = m_document->config().settingsOf(node.name);
    m_comment->setPlainText(settings == nullptr ? QString() : QString::fromStdString(settings->comment));
}

}  // namespace quantloupe::ui
