// SPDX-License-Identifier: Apache-2.0
#include "panels/transform_section.h"

#include <QVBoxLayout>
#include <algorithm>

#include "models/metric.h"

namespace quantloupe::ui {

TransformSection::TransformSection(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 2);
    m_heading = new SectionHeading(QStringLiteral("Transforms"));
    column->addWidget(m_heading);

    const auto row = [&](QWidget* left, QWidget* middle, QLabel*& remark) {
        auto* line = new QHBoxLayout;
        line->setSpacing(unit / 2);
        line->addWidget(left);
        if (middle) line->addWidget(middle);
        line->addStretch(1);
        remark = makeLabel({}, "faint", 0.92);
        line->addWidget(remark);
        column->addLayout(line);
    };
    m_fold = new ToggleSwitch(QStringLiteral("Fold batch norm"));
    m_fold->setToolTip(QStringLiteral("Batch normalization becomes part of the convolution before it"));
    row(m_fold, nullptr, m_foldCount);
    m_relu6 = new QComboBox;
    m_relu6->addItems({QStringLiteral("keep"), QStringLiteral("between"), QStringLiteral("all")});
    m_relu6->setItemData(0, QStringLiteral("Leave every ReLU6 as it is"), Qt::ToolTipRole);
    m_relu6->setItemData(1, QStringLiteral("Replace those between two layers that can be equalized"),
                         Qt::ToolTipRole);
    m_relu6->setItemData(2, QStringLiteral("Replace all"), Qt::ToolTipRole);
    m_relu6->setFocusPolicy(Qt::TabFocus);
    m_relu6->setAccessibleName(QStringLiteral("Replace ReLU6 by ReLU"));
    m_relu6->setToolTip(QStringLiteral(
        "A ReLU lets scales pass, a ReLU6 does not: equalization needs it. It changes the float "
        "network: watch the drift"));
    row(makeLabel(QStringLiteral("ReLU6 \u2192 ReLU"), ""), m_relu6, m_relu6Count);
    m_equalize = new ToggleSwitch(QStringLiteral("Equalize"));
    m_equalize->setToolTip(
        QStringLiteral("Cross-layer equalization, as AIMET does it: neighbouring layers are rescaled so that "
                       "their channels' weights have like ranges"));
    row(m_equalize, nullptr, m_sets);
    m_highBias = new ToggleSwitch(QStringLiteral("High-bias fold"));
    m_highBias->setToolTip(
        QStringLiteral("Moves large biases into the next layer; needs batch norm folding and equalization"));
    QLabel* none = nullptr;
    row(m_highBias, nullptr, none);

    connect(m_fold, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.foldBatchNorm = on;
        edit(on ? QStringLiteral("Fold batch norm") : QStringLiteral("Keep batch norm"), next);
    });
    connect(m_relu6, &QComboBox::activated, this, [this](int index) {
        TransformOptions next = m_document->config().transforms;
        next.replaceRelu6 = static_cast<ReplaceRelu6>(index);
        edit(index == 0 ? QStringLiteral("Keep ReLU6") : QStringLiteral("Replace ReLU6"), next);
    });
    connect(m_equalize, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.equalization.profile = on ? EqualizationProfile::Aimet : EqualizationProfile::Off;
        edit(on ? QStringLiteral("Equalize") : QStringLiteral("Do not equalize"), next);
    });
    connect(m_highBias, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.highBiasFold = on;
        edit(on ? QStringLiteral("High-bias fold") : QStringLiteral("No high-bias fold"), next);
    });
    connect(document, &Document::configChanged, this, &TransformSection::refresh);
    connect(document, &Document::evaluationChanged, this, &TransformSection::refresh);
    refresh();
}

void TransformSection::edit(const QString& text, const TransformOptions& transforms) {
    ConfigEdit next{m_document->config(), text, {}};
    next.next.transforms = transforms;
    if (!m_document->edit(next)) refresh();
}

void TransformSection::refresh() {
    const TransformOptions& transforms = m_document->config().transforms;
    setEnabled(m_document->hasModel());
    m_fold->setChecked(transforms.foldBatchNorm);
    m_relu6->setCurrentIndex(static_cast<int>(transforms.replaceRelu6));
    m_equalize->setChecked(transforms.equalization.profile != EqualizationProfile::Off);
    m_highBias->setChecked(transforms.highBiasFold);

    const Evaluation* evaluation = m_document->evaluation().get();
    const auto& layers = m_document->layers();
    const auto clips =
        std::ranges::count_if(layers, [](const LayerResult& layer) { return layer.op == "Clip"; });
    const auto norms = std::ranges::count_if(
        layers, [](const LayerResult& layer) { return layer.op == "BatchNormalization"; });
    m_foldCount->setText(!evaluation  ? QString()
                         : norms == 0 ? QStringLiteral("none here")
                         : transforms.foldBatchNorm
                             ? QStringLiteral("%1 folded").arg(evaluation->foldedBatchNorms)
                             : QStringLiteral("%1 there").arg(norms));
    m_relu6Count->setText(!evaluation ? QString()
                          : clips == 0
                              ? QStringLiteral("none here")
                              : QStringLiteral("%1 of %2").arg(evaluation->replacedClips).arg(clips));
    m_sets->setText(evaluation && m_equalize->isChecked()
                        ? QStringLiteral("%1 sets").arg(evaluation->equalizationSets)
                        : QString());
    QString drift, tip;
    if (evaluation && evaluation->prepared) {
        const Accuracy& prepared = *evaluation->prepared;
        const bool comparable = evaluation->floating && evaluation->floating->samples == prepared.samples;
        if (comparable && evaluation->floating->top1 && prepared.top1 &&
            *evaluation->floating->top1 != *prepared.top1)
            drift = QStringLiteral("float drift %1 points")
                        .arg(formatPoints(*prepared.top1 - *evaluation->floating->top1));
        else if (prepared.maxAbsDiff)
            drift = QStringLiteral("float drift %1").arg(QString::number(*prepared.maxAbsDiff, 'g', 2));
        tip = QStringLiteral("How far the transforms alone move the float network");
        if (prepared.top1) tip += QStringLiteral("\ntop-1 after them: ") + formatRate(*prepared.top1);
        if (prepared.agreement) tip += QStringLiteral("\nagreement: ") + formatRate(*prepared.agreement);
        if (prepared.maxAbsDiff)
            tip +=
                QStringLiteral("\nlargest difference of an output: %1").arg(*prepared.maxAbsDiff, 0, 'g', 3);
    }
    m_heading->setRemark(drift, tip);
}

}  // namespace quantloupe::ui
