// SPDX-License-Identifier: Apache-2.0
#include "panels/calibration_form.h"

#include <QVBoxLayout>

#include "config/config_json.h"
#include "config/object_reader.h"
#include "style/words.h"

namespace quantloupe::ui {

enum class ParameterKind { Number, Range, Mode };

struct ParameterText {
    const char* key;  ///< in the configuration
    const char* label;
    const char* toolTip;
    ParameterKind kind;
};

namespace {

const ParameterText kParameters[] = {
    {"averaging_constant", QT_TRANSLATE_NOOP("Words", "Averaging constant"),
     QT_TRANSLATE_NOOP("Words", "From 0 (plain mean) to 1"), ParameterKind::Number},
    {"percentile", QT_TRANSLATE_NOOP("Words", "Percentile"),
     QT_TRANSLATE_NOOP("Words", "The fraction of all magnitudes that is kept: above 0.5, up to 1"),
     ParameterKind::Number},
    {"max_percentile", QT_TRANSLATE_NOOP("Words", "Upper percentile"),
     QT_TRANSLATE_NOOP("Words", "Above 0.5, up to 1"), ParameterKind::Number},
    {"min_percentile", QT_TRANSLATE_NOOP("Words", "Lower percentile"),
     QT_TRANSLATE_NOOP("Words", "Above 0.5, up to 1"), ParameterKind::Number},
    {"search_range", QT_TRANSLATE_NOOP("Words", "Search range"),
     QT_TRANSLATE_NOOP("Words", "The smallest and the largest multiple of the bound to try"),
     ParameterKind::Range},
    {"search_step", QT_TRANSLATE_NOOP("Words", "Search step"),
     QT_TRANSLATE_NOOP("Words", "The difference between successive multiples"), ParameterKind::Number},
    {"num_bins", QT_TRANSLATE_NOOP("Words", "Bins"),
     QT_TRANSLATE_NOOP("Words", "Histogram bins: a power of two from 128 to 8192"), ParameterKind::Number},
    {"num_quantized_bins", QT_TRANSLATE_NOOP("Words", "Quantized bins"),
     QT_TRANSLATE_NOOP("Words", "2 to 8192"), ParameterKind::Number},
    {"num_of_bins", QT_TRANSLATE_NOOP("Words", "Bins"),
     QT_TRANSLATE_NOOP("Words", "Histogram bins: 1024, 2048, 4096 or 8192"), ParameterKind::Number},
    {"mode", QT_TRANSLATE_NOOP("Words", "Evaluated on"),
     QT_TRANSLATE_NOOP("Words",
                       "All samples together, or each sample separately, taking the most common result"),
     ParameterKind::Mode},
};

QString jsonText(const OrderedJson& value) {
    if (value.is_number_float()) return numberText(value.get<double>());
    return QString::fromStdString(value.dump());
}

/// Both parts of a range, or the one value.
QStringList partsOf(const OrderedJson& value) {
    if (!value.is_array()) return {jsonText(value), {}};
    return {jsonText(value[0]), jsonText(value[1])};
}

}  // namespace

CalibrationForm::CalibrationForm(QWidget* parent) : QWidget(parent) {
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 4);
    for (const ParameterText& text : kParameters) {
        Row row{&text};
        const QString label = Words::tr(text.label), tip = Words::tr(text.toolTip);
        auto* box = new QWidget;
        auto* fields = new QHBoxLayout(box);
        fields->setContentsMargins(0, 0, 0, 0);
        fields->setSpacing(unit / 3);
        if (text.kind == ParameterKind::Mode) {
            row.choice = new ChoiceBox(label);
            row.choice->addItems({tr("all samples"), tr("most common")});
            fields->addWidget(row.choice);
        } else {
            const int count = text.kind == ParameterKind::Range ? 2 : 1;
            for (int i = 0; i < count; ++i) {
                row.fields[i] = new NumberField(label);
                fields->addWidget(row.fields[i]);
            }
        }
        row.widget = makeRow(label, box, tip);
        column->addWidget(row.widget);
        m_rows.append(row);
    }
    m_complaint = makeLabel({}, "bad", 0.9);
    m_complaint->setWordWrap(true);
    m_complaint->hide();
    column->addWidget(m_complaint);
    for (const Row& row : std::as_const(m_rows)) {
        for (NumberField* field : row.fields)
            if (field)
                connect(field, &NumberField::entered, this,
                        [this, row, field](const QString& text) { enter(row, field, text); });
        if (row.choice)
            connect(row.choice, &QComboBox::activated, this, [this, row](int index) {
                enter(row, nullptr,
                      index == 0 ? QStringLiteral("\"all\"") : QStringLiteral("\"most_common\""));
            });
    }
}

void CalibrationForm::show(CalibrationMethod method, const CalibrationParameters& own,
                           const CalibrationParameters& inherited) {
    m_own = own;
    m_inherited = inherited;
    m_any = false;
    const auto ownJson = calibrationParametersToJson(own),
               inheritedJson = calibrationParametersToJson(inherited),
               defaults = calibrationParametersToJson(withDefaults(method, {}));
    for (const Row& row : std::as_const(m_rows)) {
        const std::string key = row.text->key;
        const bool shown = defaults.contains(key);
        row.widget->setVisible(shown);
        if (!shown) continue;
        m_any = true;
        const auto standard = inheritedJson.contains(key) ? inheritedJson[key] : defaults[key];
        if (row.choice) {
            const auto mode = ownJson.contains(key) ? ownJson[key] : standard;
            row.choice->setCurrentIndex(mode == "most_common" ? 1 : 0);
            continue;
        }
        const QStringList placeholders = partsOf(standard);
        const QStringList values = ownJson.contains(key) ? partsOf(ownJson[key]) : QStringList{{}, {}};
        for (int i = 0; i < 2; ++i)
            if (row.fields[i]) row.fields[i]->setValue(values[i], placeholders[i]);
    }
    m_complaint->hide();
    setVisible(m_any);
}

NumberField* CalibrationForm::field(const QString& key, int part) const {
    for (const Row& row : m_rows)
        if (key == QLatin1String(row.text->key)) return row.fields[part];
    return nullptr;
}

void CalibrationForm::enter(const Row& row, NumberField* field, const QString& text) {
    // A range is one value: if only one end was entered, the other is the displayed default.
    QString value = text;
    if (row.text->kind == ParameterKind::Range) {
        QStringList ends;
        bool any = false;
        for (const NumberField* end : row.fields) {
            any = any || !end->text().trimmed().isEmpty();
            ends.append(end->text().trimmed().isEmpty() ? end->placeholderText() : end->text().trimmed());
        }
        value = any ? QLatin1Char('[') + ends.join(QLatin1Char(',')) + QLatin1Char(']') : QString();
    }
    try {
        Json json = calibrationParametersToJson(m_own);
        Json entered;
        if (!value.isEmpty()) {
            entered = Json::parse(value.toStdString(), nullptr, false);
            if (entered.is_discarded())
                failInput("{}: must be a number, not '{}'", row.text->key, text.toStdString());
        }
        json[row.text->key] = entered;
        const CalibrationParameters next = calibrationParametersFromJson(json);
        Q_EMIT changed(next, QStringLiteral("%1 %2").arg(Words::tr(row.text->label),
                                                         value.isEmpty() ? tr("default") : value));
    } catch (const std::exception& error) {
        if (field) field->setComplaint(QString::fromUtf8(error.what()));
        m_complaint->setText(sentence(QString::fromUtf8(error.what())));
        m_complaint->show();
    }
}

}  // namespace quantloupe::ui
