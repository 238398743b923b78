// SPDX-License-Identifier: Apache-2.0
#include "panels/option_controls.h"

#include <algorithm>

#include "commands/config_edits.h"
#include "config/config_json.h"

namespace quantloupe::ui {

OptionControls::OptionControls(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    connect(document, &Document::configChanged, this, &OptionControls::refresh);
    connect(document, &Document::modelChanged, this, &OptionControls::refresh);
}

SegmentedControl* OptionControls::addNumbers(std::vector<int> numbers, const QString& title, int mergeKey,
                                             OptionOf<int> option) {
    QStringList texts;
    for (const int number : numbers) texts.append(QString::number(number));
    auto* control = new SegmentedControl(texts);
    connect(control, &SegmentedControl::chosen, this, [this, numbers, title, mergeKey, option](int index) {
        const int chosen = numbers[static_cast<std::size_t>(index)];
        edit(
            title.arg(chosen), [=](QuantizationConfig& c) { option(c) = chosen; }, mergeKey);
    });
    addOption<int>(option, [control, numbers = std::move(numbers)](int number) {
        const auto found = std::ranges::find(numbers, number);
        control->setCurrentIndex(found == numbers.end() ? -1 : static_cast<int>(found - numbers.begin()));
    });
    return control;
}

int OptionControls::changed() const {
    QuantizationConfig now = m_document->config(), standard;
    return static_cast<int>(std::ranges::count_if(
        m_options, [&](const Option& option) { return option.differs(now, standard); }));
}

/// If the document refuses the edit, the control shows the configuration again.
void OptionControls::edit(const QString& title, const std::function<void(QuantizationConfig&)>& change,
                          int mergeKey) {
    if (!m_document->edit(changeConfig(m_document->config(), title, change, mergeKey))) refresh();
}

void OptionControls::enter(NumberField* field, const std::string& key, const QString& title,
                           const QString& text) {
    try {
        ConfigEdit edit{m_document->config(), title, {}};
        setConfigKey(edit.next, key, text.toStdString());
        m_document->edit(edit);
    } catch (const std::exception& error) {
        field->setComplaint(QString::fromUtf8(error.what()));
    }
}

void OptionControls::refresh() {
    QuantizationConfig config = m_document->config();
    for (const Option& option : m_options) option.show(config);
}

}  // namespace quantloupe::ui
