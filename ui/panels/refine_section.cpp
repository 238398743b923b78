// SPDX-License-Identifier: Apache-2.0
#include "panels/refine_section.h"

#include <QVBoxLayout>

namespace quantloupe::ui {

RefineSection::RefineSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    m_heading = new SectionHeading(tr("Refinement"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("refinement"));
    auto* controls = new OptionControls(document, this);
    m_migrated = makeLabel({}, "faint", 0.92);
    auto* migration = new QWidget;
    auto* fields = new QHBoxLayout(migration);
    fields->setContentsMargins(0, 0, 0, 0);
    fields->addWidget(
        controls->addField<double>(tr("Outlier migration"), "refine.migration", tr("Migrate outliers: %1"),
                                   [](QuantizationConfig& c) -> double& { return c.refine.migration; }),
        1);
    fields->addWidget(m_migrated);
    rows->addWidget(
        makeRow(tr("Migrate outliers"), migration,
                tr("Moves activation outliers of Gemm and MatMul inputs into the weights (SmoothQuant), "
                   "from 0 (not at all) to 1; 0.5 is usual. For transformers with 8-bit weights; 4 bits are "
                   "too few for the wider weight ranges")));
    rows->addWidget(
        makeRow(tr("Bias correction"),
                controls->addSegments(
                    biasCorrectionTexts(), tr("Bias correction: %1"),
                    [](QuantizationConfig& c) -> BiasCorrection& { return c.refine.biasCorrection; }),
                tr("Corrects the shift of a layer's mean output that rounding the weights causes")));
    auto* rounding = controls->addSwitch(
        tr("Learned rounding"),
        tr("Rounds each weight up or down, whichever is better for the layer's output on the calibration "
           "data (AdaRound). Slow the first time; results of layers that a later change does not affect are "
           "reused"),
        tr("Learned rounding"), tr("Round to nearest"),
        [](QuantizationConfig& c) -> Rounding& { return c.refine.rounding; }, Rounding::Adaround,
        Rounding::Nearest);
    rows->addWidget(rounding);
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
    m_stop = makeLink(tr("Stop"), tr("Stops learning and rounds to nearest again"));
    m_remark = makeLabel({}, "faint", 0.92);
    running->addWidget(m_bar, 1);
    running->addWidget(m_remark);
    running->addWidget(m_stop);
    rows->addLayout(running);
    showRunning(false);

    connect(m_stop, &QPushButton::clicked, this, &RefineSection::stop);
    connect(document->job(), &EvaluationJob::progressed, this, &RefineSection::showProgress);
    connect(document, &Document::configChanged, this, &RefineSection::refresh);
    connect(document, &Document::evaluationChanged, this, &RefineSection::refresh);
    refresh();
}

void RefineSection::showProgress(const QString& stage, std::size_t done, std::size_t total) {
    const RefineOptions& refine = m_document->config().refine;
    const bool refining = stage == QLatin1String(kRefining) && done < total && refine != RefineOptions{};
    showRunning(refining);
    if (!refining) return;
    m_bar->setRange(0, static_cast<int>(total));
    m_bar->setValue(static_cast<int>(done));
    m_remark->setText(tr("layer %1 of %2").arg(done).arg(total));
}

void RefineSection::showRunning(bool running) {
    m_bar->setVisible(running);
    m_remark->setVisible(running);
    m_stop->setVisible(running && m_document->config().refine.rounding == Rounding::Adaround);
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
    m_advice->setVisible(refine.rounding == Rounding::Adaround);
    const Evaluation* evaluation = m_document->evaluation().get();
    m_migrated->setText(evaluation && refine.migration > 0 ? tr("%1 inputs").arg(evaluation->migratedInputs)
                                                           : QString());
    m_migrated->setVisible(!m_migrated->text().isEmpty());
    if (!m_document->evaluating()) showRunning(false);
}

}  // namespace quantloupe::ui
