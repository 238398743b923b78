// SPDX-License-Identifier: Apache-2.0
#include "panels/data_section.h"

#include <QPainter>
#include <QPainterPath>
#include <QVBoxLayout>

#include "style/theme.h"

namespace quantloupe::ui {

namespace {

QString folderText(const std::filesystem::path& path) {
    const auto parent = path.parent_path().filename().string();
    const auto name = path.filename().string();
    return QString::fromStdString(parent.empty() ? name : parent + "/" + name);
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

}  // namespace

DataSection::DataSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 2);
    m_heading = new SectionHeading(QStringLiteral("Data"));
    column->addWidget(m_heading);
    auto* body = new QWidget;
    auto* content = new QVBoxLayout(body);
    content->setContentsMargins(0, 0, 0, 0);
    content->setSpacing(unit / 2);
    column->addWidget(body);
    m_heading->setBody(body, QStringLiteral("data"));

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
    line(m_path, m_description, m_choose, QStringLiteral("Folder\u2026"));
    line(m_calibrationPath, m_calibration, m_chooseCalibration, QStringLiteral("Folder\u2026"));
    m_choose->setToolTip(
        QStringLiteral("Images that the accuracy is measured on: one subfolder a class, or a flat folder"));
    m_chooseCalibration->setToolTip(
        QStringLiteral("Images that the ranges of the activations are taken from"));
    content->addWidget(card);
    m_notice = makeLabel({}, "muted", 0.88);
    m_notice->setWordWrap(true);
    content->addWidget(m_notice);

    connect(m_choose, &QPushButton::clicked, this, &DataSection::chooseDataRequested);
    connect(m_chooseCalibration, &QPushButton::clicked, this, &DataSection::chooseCalibrationRequested);
    connect(document, &Document::dataChanged, this, &DataSection::refresh);
    connect(document, &Document::evaluationChanged, this, &DataSection::refresh);
    refresh();
}

void DataSection::refresh() {
    const auto& info = m_document->data();
    m_choose->setEnabled(m_document->hasModel());
    m_chooseCalibration->setEnabled(info.has_value());
    for (QWidget* widget : {static_cast<QWidget*>(m_calibrationPath), static_cast<QWidget*>(m_calibration),
                            static_cast<QWidget*>(m_chooseCalibration)})
        widget->setVisible(info.has_value());
    if (!info) {
        m_heading->setRemark({});
        m_thumbnails->hide();
        m_path->setFullText(QStringLiteral("No data yet"));
        m_description->setText(m_document->hasModel()
                                   ? QStringLiteral("Until then random inputs; drop a folder of images, .npy or .npz to measure")
                                   : QStringLiteral("Open a model first"));
        m_notice->hide();
        return;
    }
    if (info->thumbnails.isEmpty()) {
        m_thumbnails->hide();
    } else if (m_thumbnails->isHidden() || m_thumbnails->pixmap().isNull()) {
        m_thumbnails->setPixmap(strip(info->thumbnails, fontMetrics().height() * 2, devicePixelRatioF()));
        m_thumbnails->show();
    }
    const Evaluation* evaluation = m_document->evaluation().get();
    if (evaluation && evaluation->samples > 0 && evaluation->calibrationSamples > 0)
        m_heading->setRemark(QStringLiteral("%1 calibrate, %2 evaluate")
                                 .arg(evaluation->calibrationSamples)
                                 .arg(evaluation->samples));
    m_path->setFullText(folderText(info->evaluationPath));
    m_path->setToolTip(QString::fromStdString(info->evaluationPath.string()));
    m_description->setText(info->description);
    const bool separate = !info->calibrationPath.empty();
    m_calibrationPath->setFullText(separate ? folderText(info->calibrationPath)
                                            : QStringLiteral("Calibration"));
    if (separate) m_calibrationPath->setToolTip(QString::fromStdString(info->calibrationPath.string()));
    m_calibration->setText(separate ? QStringLiteral("calibration: ") + info->calibrationDescription
                                    : QStringLiteral("half of the data above"));
    m_notice->setText(sentence(info->notice));
    m_notice->setVisible(!info->notice.isEmpty());
}

}  // namespace quantloupe::ui
