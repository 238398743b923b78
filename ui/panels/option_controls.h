// SPDX-License-Identifier: Apache-2.0
#pragma once
// Controls of configuration options. Each is described once, where it is created: its texts, the option, and
// the title of the edit that it makes. It then follows the document's configuration.

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "document/document.h"
#include "style/choice_texts.h"
#include "widgets/basics.h"
#include "widgets/number_field.h"

namespace quantloupe::ui {

/// Returns the option of a configuration that a control shows and sets.
template <typename Value>
using OptionOf = Value& (*)(QuantizationConfig&);

class OptionControls : public QObject {
    Q_OBJECT
  public:
    OptionControls(Document* document, QObject* parent);

    /// `on` and `off` are the titles of the edits.
    ToggleSwitch* addSwitch(const QString& name, const QString& toolTip, const QString& on,
                            const QString& off, OptionOf<bool> option) {
        return addSwitch(name, toolTip, on, off, option, true, false);
    }
    /// A switch between two values of an option.
    template <typename Value>
    ToggleSwitch* addSwitch(const QString& name, const QString& toolTip, const QString& on,
                            const QString& off, std::type_identity_t<OptionOf<Value>> option, Value whenOn,
                            Value whenOff) {
        auto* control = new ToggleSwitch(name);
        control->setToolTip(toolTip);
        connect(control, &ToggleSwitch::clicked, this, [=, this](bool checked) {
            edit(checked ? on : off, [&](QuantizationConfig& c) { option(c) = checked ? whenOn : whenOff; });
        });
        addOption<Value>(option, [control, whenOn](Value value) { control->setChecked(value == whenOn); });
        return control;
    }

    /// `title` is the title of the edit, with the name of the choice for %1.
    template <typename Value>
    ChoiceBox* addChoice(const QString& accessibleName, std::span<const ChoiceText<Value>> texts,
                         const QString& title, std::type_identity_t<OptionOf<Value>> option) {
        return addChoice(accessibleName, texts, option,
                         [title](const ChoiceText<Value>& chosen) { return title.arg(chosen.name()); });
    }
    /// `titleOf` returns the title of the edit that makes a choice.
    template <typename Value, typename TitleOf>
    ChoiceBox* addChoice(const QString& accessibleName, std::span<const ChoiceText<Value>> texts,
                         std::type_identity_t<OptionOf<Value>> option, TitleOf titleOf) {
        auto* box = new ChoiceBox(accessibleName);
        for (const auto& text : texts) box->addChoice(text.name(), text.meaning());
        connect(box, &QComboBox::activated, this, [this, texts, option, titleOf](int index) {
            const ChoiceText<Value>& chosen = texts[static_cast<std::size_t>(index)];
            edit(titleOf(chosen), [&](QuantizationConfig& c) { option(c) = chosen.value; });
        });
        addOption<Value>(option, [box, texts](Value value) { box->setCurrentIndex(indexOf(texts, value)); });
        return box;
    }
    /// The same with all choices side by side.
    template <typename Value>
    SegmentedControl* addSegments(std::span<const ChoiceText<Value>> texts, const QString& title,
                                  std::type_identity_t<OptionOf<Value>> option) {
        QStringList names;
        for (const auto& text : texts) names.append(text.name());
        auto* control = new SegmentedControl(names);
        for (int i = 0; i < names.size(); ++i)
            control->button(i)->setToolTip(texts[static_cast<std::size_t>(i)].meaning());
        connect(control, &SegmentedControl::chosen, this, [this, texts, title, option](int index) {
            const ChoiceText<Value>& chosen = texts[static_cast<std::size_t>(index)];
            edit(title.arg(chosen.name()), [&](QuantizationConfig& c) { option(c) = chosen.value; });
        });
        addOption<Value>(option,
                         [control, texts](Value value) { control->setCurrentIndex(indexOf(texts, value)); });
        return control;
    }
    /// Successive edits with the same `mergeKey` are one step of the history.
    SegmentedControl* addNumbers(std::vector<int> numbers, const QString& title, int mergeKey,
                                 OptionOf<int> option);

    /// `key` is the path of the option in the configuration file, which also determines what the user may
    /// enter; `title` has the entered text for %1.
    template <typename Value>
    NumberField* addField(const QString& accessibleName, const std::string& key, const QString& title,
                          OptionOf<Value> option) {
        auto* field = new NumberField(accessibleName);
        connect(field, &NumberField::entered, this,
                [this, field, key, title](const QString& text) { enter(field, key, title.arg(text), text); });
        addOption<Value>(option, [field](Value value) {
            if constexpr (std::is_integral_v<Value>)
                field->setValue(QString::number(value));
            else
                field->setValue(numberText(value));
        });
        return field;
    }

    /// Returns the number of options whose value is not that of a new configuration.
    int changed() const;
    int size() const { return static_cast<int>(m_options.size()); }

  private:
    struct Option {
        std::function<void(QuantizationConfig&)> show;
        std::function<bool(QuantizationConfig&, QuantizationConfig&)> differs;
    };

    template <typename Value, typename Show>
    void addOption(OptionOf<Value> option, Show show) {
        m_options.push_back(
            {[option, show](QuantizationConfig& c) { show(option(c)); },
             [option](QuantizationConfig& a, QuantizationConfig& b) { return option(a) != option(b); }});
        QuantizationConfig config = m_document->config();
        m_options.back().show(config);
    }
    void edit(const QString& title, const std::function<void(QuantizationConfig&)>& change,
              int mergeKey = -1);
    void enter(NumberField* field, const std::string& key, const QString& title, const QString& text);
    void refresh();

    Document* m_document;
    std::vector<Option> m_options;
};

}  // namespace quantloupe::ui
