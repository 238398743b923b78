// SPDX-License-Identifier: Apache-2.0
#include "panels/data_section.h"

#include <QMenu>
#include <QPainter>
#include <QPainterPath>
#include <QVBoxLayout>

#include "analysis/label_check.h"
#include "dialogs/preprocess_dialog.h"
#include "dialogs/task_dialog.h"
#include "document/metric.h"
#include "model/sample_axes.h"
#include "style/path_text.h"
#include "style/theme.h"

namespace quantloupe::ui {

namespace {

QString folderText(const std::filesystem::path& path) {
    const auto parent = path.parent_path().filename().string();
    const auto name = path.filename().string();
    return QString::fromStdString(parent.empty() ? name : parent + "/" + name);
}

bool takesImages(const Graph& graph) {
    return std::ranges::any_of(graph.inputs(), [&](TensorId input) {
        const auto& shape = graph.tensor(input).shape;
        return shape && (shape->size() == 4 || isOneImage(shape));
    });
}

QPixmap strip(const QList<QImage>& images, int height, qreal ratio) {
    const int gap = height / 6;
    QPixmap result(QSize(static_cast<int>(images.size()) * (height + gap), height) * ratio);
    result.setDevicePixelRatio(ratio);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
    for (int i = 0; i < images.size(); ++i) {
        QPainterPath clip;
        clip.addRoundedRect(QRectF(i * (height + gap), 0, height, height), 3, 3);
        painter.setClipPath(clip);
        painter.drawImage(clip.boundingRect(), images[i]);
    }
    return result;
}

/// What is probably wrong with the data, or why the accuracy is not that of the whole network.
LabelProblem problemOf(const Evaluation& evaluation) {
    if (!evaluation.unevaluated.empty()) return {evaluation.unevaluated, false};
    if (!evaluation.labelNotice.empty()) return {evaluation.labelNotice, false};
    return labelProblem(evaluation);
}

}  // namespace

DataSection::DataSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    m_heading = new SectionHeading(tr("Data"));
    auto* content = buildSection(this, m_heading, QStringLiteral("data"));
    content->setSpacing(unit / 2);

    auto* card = new QFrame;
    card->setObjectName(QStringLiteral("card"));
    auto* rows = new QVBoxLayout(card);
    rows->setContentsMargins(unit * 2 / 3, unit / 2, unit * 2 / 3, unit / 2);
    rows->setSpacing(unit / 3);
    m_thumbnails = new QLabel;
    rows->addWidget(m_thumbnails);
    const auto line = [&](ElidedLabel*& path, QLabel*& description, QPushButton*& choose,
                          const QString& label) {
        auto* row = new QHBoxLayout;
        row->setSpacing(unit / 2);
        auto* texts = new QVBoxLayout;
        texts->setSpacing(0);
        path = new ElidedLabel({}, Qt::ElideLeft);
        path->setFont(scaledFont(font(), 1, QFont::Medium));
        description = makeLabel({}, "muted", 0.9);
        description->setWordWrap(true);
        texts->addWidget(path);
        texts->addWidget(description);
        choose = new QPushButton(label);
        choose->setFocusPolicy(Qt::TabFocus);
        row->addLayout(texts, 1);
        row->addWidget(choose, 0, Qt::AlignVCenter);
        rows->addLayout(row);
    };
    line(m_path, m_description, m_choose, tr("Open\u2026"));
    line(m_calibrationPath, m_calibration, m_chooseCalibration, tr("Open\u2026"));
    line(m_preprocessHead, m_preprocess, m_changePreprocess, tr("Change\u2026"));
    m_preprocessHead->setFullText(tr("Preprocessing"));
    line(m_labelsHead, m_labels, m_changeLabels, tr("Change\u2026"));
    m_labelsHead->setFullText(tr("Labels"));
    m_changeLabels->setToolTip(
        tr("Lists of classes, boxes (COCO), label images, class names, and how boxes are decoded"));
    m_changeLabels->setAccessibleName(tr("Change the labels"));
    m_changePreprocess->setToolTip(
        tr("How images are converted to network inputs: size, colors, scale, mean"));
    m_changePreprocess->setAccessibleName(tr("Change the preprocessing"));
    m_choose->setToolTip(
        tr("Samples for evaluation: a folder of images (one subfolder per class, or flat), a folder of ONNX "
           "test data, or a .npy or .npz file"));
    m_chooseCalibration->setToolTip(
        tr("Samples for calibrating the ranges of the activations: a folder, or a .npy or .npz file"));
    m_choose->setAccessibleName(tr("Open evaluation data"));
    m_chooseCalibration->setAccessibleName(tr("Open calibration data"));
    content->addWidget(card);
    m_dataRequest = buildDataRequest();
    content->addWidget(m_dataRequest);
    m_notice = makeLabel({}, "muted", 0.88);
    m_notice->setWordWrap(true);
    content->addWidget(m_notice);
    m_wrong = new QFrame;
    m_wrong->setObjectName(QStringLiteral("banner"));
    auto* wrong = new QVBoxLayout(m_wrong);
    wrong->setContentsMargins(unit / 2, unit / 3, unit / 2, unit / 3);
    wrong->setSpacing(unit / 4);
    m_warning = makeLabel({}, "", 0.95);
    m_warning->setWordWrap(true);
    m_views = new QLabel;
    m_viewText = makeLabel({}, "muted", 0.88);
    m_viewText->setWordWrap(true);
    wrong->addWidget(m_warning);
    wrong->addWidget(m_views);
    wrong->addWidget(m_viewText);
    m_wrong->hide();
    content->addWidget(m_wrong);

    const auto choices = [this](QPushButton* button, void (DataSection::*chosen)(DataForm)) {
        auto* menu = new QMenu(button);
        connect(menu->addAction(tr("&Folder\u2026")), &QAction::triggered, this, [this, chosen] {
            Q_EMIT(this->*chosen)(DataForm::Folder);
        });
        connect(menu->addAction(tr("F&ile (.npy, .npz)\u2026")), &QAction::triggered, this, [this, chosen] {
            Q_EMIT(this->*chosen)(DataForm::File);
        });
        button->setMenu(menu);
    };
    choices(m_choose, &DataSection::chooseDataRequested);
    choices(m_chooseCalibration, &DataSection::chooseCalibrationRequested);
    connect(m_changeLabels, &QPushButton::clicked, this, &DataSection::labelsRequested);
    connect(m_changePreprocess, &QPushButton::clicked, this, &DataSection::preprocessRequested);
    connect(document, &Document::dataChanged, this, &DataSection::refresh);
    connect(document, &Document::evaluationChanged, this, &DataSection::refresh);
    refresh();
}

/// Shown while random inputs are used instead of data.
QFrame* DataSection::buildDataRequest() {
    const int unit = fontMetrics().height();
    auto* frame = new QFrame;
    frame->setObjectName(QStringLiteral("banner"));
    auto* rows = new QVBoxLayout(frame);
    rows->setContentsMargins(unit / 2, unit / 3, unit / 2, unit / 2);
    rows->setSpacing(unit / 3);
    auto* text =
        makeLabel(tr("Random inputs: sensitivities are rough, and the accuracy is unknown. Open samples, "
                     "or drop a folder or a file here."),
                  "", 0.95);
    text->setWordWrap(true);
    rows->addWidget(text);
    auto* row = new QHBoxLayout;
    row->setSpacing(unit / 2);
    const auto add = [&](const QString& label, const QString& tip, DataForm form) {
        auto* button = new QPushButton(label);
        button->setToolTip(tip);
        button->setFocusPolicy(Qt::TabFocus);
        connect(button, &QPushButton::clicked, this, [this, form] { Q_EMIT chooseDataRequested(form); });
        row->addWidget(button);
    };
    add(tr("Folder\u2026"),
        tr("Images, one subfolder per class if labels are known, or an ONNX test_data_set"),
        DataForm::Folder);
    add(tr("File\u2026"), tr("Arrays: .npy, or .npz with the names of the inputs"), DataForm::File);
    row->addStretch(1);
    rows->addLayout(row);
    return frame;
}

void DataSection::refresh() {
    const auto& info = m_document->data();
    m_dataRequest->setVisible(m_document->hasModel() && !info);
    m_choose->setVisible(info.has_value());
    m_choose->setEnabled(m_document->hasModel());
    m_chooseCalibration->setEnabled(info.has_value());
    const bool images =
        info ? !info->thumbnails.isEmpty() : m_document->hasModel() && takesImages(*m_document->graph());
    for (QWidget* widget : {static_cast<QWidget*>(m_preprocessHead), static_cast<QWidget*>(m_preprocess),
                            static_cast<QWidget*>(m_changePreprocess)})
        widget->setVisible(images);
    if (images) {
        try {
            m_preprocess->setText(preprocessInWords(info ? info->preprocess : m_document->preprocess()));
        } catch (const std::exception& error) {
            m_preprocess->setText(sentence(QString::fromUtf8(error.what())));
        }
    }
    for (QWidget* widget : {static_cast<QWidget*>(m_labelsHead), static_cast<QWidget*>(m_labels),
                            static_cast<QWidget*>(m_changeLabels)})
        widget->setVisible(info.has_value());
    if (info) {
        const QString labels = taskInWords(m_document->task());
        m_labels->setText(!labels.isEmpty()                            ? labels
                          : info->task.task == Task::Tokens            ? tr("one class per token")
                          : info->labels && info->thumbnails.isEmpty() ? tr("one class per sample")
                          : info->labels                               ? tr("one class per image")
                                                                       : tr("none"));
    }
    for (QWidget* widget : {static_cast<QWidget*>(m_calibrationPath), static_cast<QWidget*>(m_calibration),
                            static_cast<QWidget*>(m_chooseCalibration)})
        widget->setVisible(info.has_value());
    if (!info) {
        m_heading->setRemark({});
        m_thumbnails->hide();
        m_path->setFullText(tr("No data yet"));
        m_description->setText(!m_document->hasModel()    ? tr("Open a model first")
                               : m_document->evaluation() ? tr("evaluated on random inputs")
                               : m_document->evaluating() ? tr("evaluating\u2026")
                                                          : tr("not evaluated"));
        m_notice->hide();
        m_wrong->hide();
        m_warning->clear();
        return;
    }
    if (info->thumbnails.isEmpty()) {
        m_thumbnails->hide();
    } else if (m_thumbnails->isHidden() || m_shown.isEmpty() ||
               m_shown.front().cacheKey() != info->thumbnails.front().cacheKey()) {
        m_shown = info->thumbnails;
        m_thumbnails->setPixmap(strip(info->thumbnails, fontMetrics().height() * 2, devicePixelRatioF()));
        m_thumbnails->show();
    }
    const Evaluation* evaluation = m_document->evaluation().get();
    if (evaluation && evaluation->samples > 0 && evaluation->calibrationSamples > 0)
        m_heading->setRemark(
            tr("%1 for calibration, %2 for evaluation")
                .arg(formatNumber(evaluation->calibrationSamples), formatNumber(evaluation->samples)));
    const LabelProblem problem = evaluation ? problemOf(*evaluation) : LabelProblem();
    const QString warning = sentence(QString::fromStdString(problem.text));
    m_warning->setText(warning);
    m_wrong->setVisible(!warning.isEmpty());
    // Images and advice are only useful if the preprocessing can be wrong.
    const bool shown = problem.preprocessing && !info->networkViews.isEmpty();
    m_viewText->setVisible(shown);
    m_views->setVisible(shown);
    if (shown && (m_shownViews.isEmpty() ||
                  m_shownViews.front().cacheKey() != info->networkViews.front().cacheKey())) {
        m_shownViews = info->networkViews;
        m_views->setPixmap(strip(info->networkViews, fontMetrics().height() * 3, devicePixelRatioF()));
        m_viewText->setText(
            tr("As the network receives them; values from %1. Change size, colors, scale, mean "
               "and std above until these look right.")
                .arg(info->networkSpan));
    }
    m_path->setFullText(folderText(info->evaluationPath));
    m_path->setToolTip(pathText(info->evaluationPath));
    m_description->setText(info->description);
    const bool separate = !info->calibrationPath.empty();
    m_calibrationPath->setFullText(separate ? folderText(info->calibrationPath) : tr("Calibration"));
    if (separate) m_calibrationPath->setToolTip(pathText(info->calibrationPath));
    m_calibration->setText(separate ? tr("calibration: ") + info->calibrationDescription
                                    : tr("half of the data above"));
    m_notice->setText(sentence(info->notice));
    m_notice->setVisible(!info->notice.isEmpty());
}

}  // namespace quantloupe::ui
