// SPDX-License-Identifier: Apache-2.0
#include "panels/refine_section.h"

#include <QVBoxLayout>

#include "config/config_json.h"
#include "style/choice_texts.h"

namespace quantloupe::ui {

RefineSection::RefineSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    m_heading = new SectionHeading(tr("Refinement"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("refinement"));
    m_migration = new NumberField(tr("Outlier migration"));
    m_migrated = makeLabel({}, "faint", 0.92);
    auto* migration = new QWidget;
    auto* fields = new QHBoxLayout(migration);
    fields->setContentsMargins(0, 0, 0, 0);
    fields->addWidget(m_migration, 1);
    fields->addWidget(m_migrated);
    rows->addWidget(
        makeRow(tr("Migrate outliers"), migration,
                tr("Moves activation outliers of Gemm and MatMul inputs into the weights (SmoothQuant), "
                   "from 0 (not at all) to 1; 0.5 is usual. For transformers with 8-bit weights; 4 bits are "
                   "too few for the wider weight ranges")));
    QStringList names;
    for (const auto& text : biasCorrectionTexts()) names.append(text.name());
    m_bias = new SegmentedControl(names);
    for (int i = 0; i < names.size(); ++i)
        m_bias->button(i)->setToolTip(biasCorrectionTexts()[static_cast<std::size_t>(i)].meaning());
    rows->addWidget(
        makeRow(tr("Bias correction"), m_bias,
                tr("Corrects the shift of a layer's mean output that rounding the weights causes")));
    m_rounding = new ToggleSwitch(tr("Learned rounding"));
    m_rounding->setToolTip(
        tr("Rounds each weight up or down, whichever is better for the layer's output on the calibration "
           "data (AdaRound). Slow the first time; results of layers that a later change does not affect are "
           "reused"));
    m_remark = makeLabel({}, "faint", 0.92);
    auto* line = new QHBoxLayout;
    line->addWidget(m_rounding);
    line->addStretch(1);
    line->addWidget(m_remark);
    rows->addLayout(line);
    m_advice = makeLabel(tr("Useful for weights of few bits, with calibration data. The rounding is learned "
                            "layer by layer, which takes about a minute for MobileNetV2; results of "
                            "layers that a later change does not affect are reused."),
                         "faint", 0.92);
    m_advice->setWordWrap(true);
    rows->addWidget(m_advice);
    auto* running = new QHBoxLayout;
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setAccessibleName(tr("Progress of the refinement"));
    m_stop = new QPushButton(tr("Stop"));
    m_stop->setProperty("link", true);
    m_stop->setToolTip(tr("Stops learning and rounds to nearest again"));
    running->addWidget(m_bar, 1);
    running->addWidget(m_stop);
    rows->addLayout(running);
    m_bar->hide();
    m_stop->hide();

    connect(m_bias, &SegmentedControl::chosen, this, [this](int index) {
        const auto& chosen = biasCorrectionTexts()[static_cast<std::size_t>(index)];
        const auto change = [value = chosen.value](QuantizationConfig& c) {
            c.refine.biasCorrection = value;
        };
        m_document->edit(
            changeConfig(m_document->config(), tr("Bias correction: %1").arg(chosen.name()), change));
        refresh();
    });
    connect(m_migration, &NumberField::entered, this, &RefineSection::enterMigration);
    connect(m_rounding, &ToggleSwitch::clicked, this, [this](bool on) {
        const auto change = [on](QuantizationConfig& c) {
            c.refine.rounding = on ? Rounding::Adaround : Rounding::Nearest;
        };
        m_document->edit(
            changeConfig(m_document->config(), on ? tr("Learned rounding") : tr("Round to nearest"), change));
        refresh();
    });
    connect(m_stop, &QPushButton::clicked, this, &RefineSection::stop);
    connect(document->job(), &EvaluationJob::progressed, this, &RefineSection::showProgress);
    connect(document, &Document::configChanged, this, &RefineSection::refresh);
    connect(document, &Document::evaluationChanged, this, &RefineSection::refresh);
    refresh();
}

void RefineSection::showProgress(const QString& stage, std::size_t done, std::size_t total) {
    const RefineOptions& refine = m_document->config().refine;
    const bool refining =
        stage == QLatin1String("refining layers") && done < total && refine != RefineOptions{};
    m_bar->setVisible(refining);
    m_stop->setVisible(refining && refine.rounding == Rounding::Adaround);
    if (refining) {
        m_bar->setRange(0, static_cast<int>(total));
        m_bar->setValue(static_cast<int>(done));
    }
    m_remark->setText(refining ? tr("layer %1 of %2").arg(done).arg(total) : QString());
}

void RefineSection::enterMigration(const QString& text) {
    try {
        ConfigEdit edit{m_document->config(), tr("Migrate outliers: %1").arg(text), {}};
        setConfigKey(edit.next, "refine.migration", text.toStdString());
        m_document->edit(edit);
    } catch (const std::exception& error) {
        m_migration->setComplaint(QString::fromUtf8(error.what()));
    }
}

/// If it stayed on after a cancellation, every later edit would start it again.
void RefineSection::stop() {
    m_document->cancel();
    const auto nearest = [](QuantizationConfig& c) { c.refine.rounding = Rounding::Nearest; };
    m_document->edit(changeConfig(m_document->config(), tr("Round to nearest"), nearest));
}

void RefineSection::refresh() {
    const RefineOptions& refine = m_document->config().refine;
    setEnabled(m_document->hasModel());
    m_bias->setCurrentIndex(indexOf(biasCorrectionTexts(), refine.biasCorrection));
    m_rounding->setChecked(refine.rounding == Rounding::Adaround);
    m_advice->setVisible(refine.rounding == Rounding::Adaround);
    m_migration->setValue(numberText(refine.migration));
    const Evaluation* evaluation = m_document->evaluation().get();
    m_migrated->setText(evaluation && refine.migration > 0 ? tr("%1 inputs").arg(evaluation->migratedInputs)
                                                           : QString());
    m_migrated->setVisible(!m_migrated->text().isEmpty());
    if (!m_document->evaluating()) {
        m_bar->hide();
        m_stop->hide();
        m_remark->clear();
    }
}

}  // namespace quantloupe::ui
