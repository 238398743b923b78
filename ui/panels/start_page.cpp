// SPDX-License-Identifier: Apache-2.0
#include "panels/start_page.h"

#include <QDir>
#include <QFileInfo>
#include <QPainter>
#include <QPainterPath>
#include <QStyle>

#include "document/recent_files.h"
#include "style/path_text.h"
#include "style/theme.h"

namespace quantloupe::ui {

namespace {

constexpr int kRecent = 4;

/// One image of each class.
QList<QImage> someImages(const std::filesystem::path& folder) {
    QList<QImage> images;
    if (folder.empty()) return images;
    const QDir data(pathText(folder));
    for (const QString& name : data.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
        const QDir one(data.filePath(name));
        const QStringList files = one.entryList(QDir::Files, QDir::Name);
        if (files.isEmpty()) continue;
        const QImage image(one.filePath(files.front()));
        if (!image.isNull()) images.append(image);
    }
    return images;
}

void paintImages(QPainter& painter, const QRectF& rect, const QList<QImage>& images) {
    const int rows = 2;
    const auto columns = static_cast<int>((images.size() + rows - 1) / rows);
    if (columns == 0) return;
    const double side = std::min(rect.width() / columns, rect.height() / rows);
    const QPointF start = rect.center() - QPointF(side * columns, side * rows) / 2;
    for (int i = 0; i < images.size(); ++i)
        painter.drawImage(QRectF(start + QPointF(i % columns, i / columns) * side, QSizeF(side, side)),
                          images[i]);
}

/// Layers of a network: one in float, the others quantized.
void paintChain(QPainter& painter, const QRectF& rect, const Theme& colors) {
    const double width = rect.width() * 0.2, height = rect.height() * 0.3,
                 gap = (rect.width() - 4 * width) / 5;
    for (int i = 0; i < 4; ++i) {
        const bool floating = i == 2;
        const QRectF box(rect.left() + gap + i * (width + gap), rect.center().y() - height / 2, width,
                         height);
        painter.setPen(QPen(colors.edge, 1.5));
        if (i > 0)
            painter.drawLine(QPointF(box.left() - gap, box.center().y()),
                             QPointF(box.left(), box.center().y()));
        painter.setPen(
            QPen(floating ? colors.inFloat : colors.quantized, 1.6, floating ? Qt::DashLine : Qt::SolidLine));
        painter.setBrush(floating ? colors.inFloatFill : colors.quantizedFill);
        painter.drawRoundedRect(box, 4, 4);
    }
}

}  // namespace

PictureButton::PictureButton(const QString& text, const QString& remark, Paint picture, QWidget* parent)
    : QPushButton(text, parent), m_remark(remark), m_picture(std::move(picture)) {
    setCursor(Qt::PointingHandCursor);
    setToolTip(remark);
    setAccessibleDescription(remark);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize PictureButton::sizeHint() const {
    const int unit = fontMetrics().height();
    return {unit * 18, unit * 10};
}

QRectF PictureButton::pictureRect() const {
    const double unit = fontMetrics().height();
    return QRectF(rect()).adjusted(1, 1, -1, -unit * 4);
}

void PictureButton::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    const double unit = fontMetrics().height();
    QPainter painter(this);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
    const QRectF frame = QRectF(rect()).adjusted(1, 1, -1, -1);
    const bool marked = hasFocus() || (underMouse() && isEnabled());
    painter.setPen(QPen(marked ? colors.accent : colors.border, marked ? 2 : 1));
    painter.setBrush(colors.panel);
    painter.drawRoundedRect(frame, 8, 8);
    QPainterPath clip;
    clip.addRoundedRect(frame.adjusted(1, 1, -1, -1), 7, 7);
    painter.save();
    painter.setClipPath(clip);
    painter.fillRect(pictureRect(), colors.soft);
    painter.setOpacity(isEnabled() ? 1 : 0.3);
    m_picture(painter, pictureRect().adjusted(unit / 2, unit / 2, -unit / 2, -unit / 2));
    painter.restore();
    QRectF line(unit * 0.75, pictureRect().bottom() + unit * 0.4, width() - unit * 1.5, unit * 1.2);
    painter.setFont(scaledFont(font(), 1, QFont::DemiBold));
    painter.setPen(isEnabled() ? colors.text : colors.faint);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text());
    line.translate(0, unit * 1.2);
    line.setHeight(unit * 2.2);
    painter.setFont(scaledFont(font(), 0.88));
    painter.setPen(colors.muted);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, m_remark);
}

StartPage::StartPage(bool hasDemo, const std::filesystem::path& demoImages, QWidget* parent)
    : QWidget(parent) {
    const int unit = fontMetrics().height();
    auto* outer = new QVBoxLayout(this);
    outer->addStretch(2);
    m_card = new QWidget;
    m_card->setFixedWidth(unit * 44);
    auto* column = new QVBoxLayout(m_card);
    column->setContentsMargins(unit * 3, unit * 2, unit * 3, unit * 3 / 2);
    column->setSpacing(unit / 2);
    column->addWidget(makeLabel(tr("Quantloupe"), "", 2.1, QFont::Bold));
    auto* what = makeLabel(
        tr("Find out which layers of an ONNX model lose accuracy when they are quantized. Keep them in "
           "float, equalize them or give them more bits, and see the new accuracy at once. Then export "
           "the model for ONNX Runtime, or a configuration for AMCT, Quark, AIMET and other tools."),
        "muted", 1.05);
    what->setWordWrap(true);
    // A centered column does not request the height that wrapped text needs.
    what->setFixedHeight(what->heightForWidth(unit * 38) + unit / 4);
    column->addWidget(what);
    column->addSpacing(unit / 2);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(unit);
    auto* open = new QPushButton(tr("Open Model\u2026"));
    open->setProperty("primary", true);
    buttons->addWidget(open);
    buttons->addWidget(makeLabel(tr("or drop an .onnx or .quantloupe file here"), "muted"));
    buttons->addStretch(1);
    column->addLayout(buttons);
    m_busy = makeLabel({}, "muted");
    m_busy->hide();
    column->addWidget(m_busy);
    column->addSpacing(unit / 2);
    auto* cards = new QHBoxLayout;
    cards->setSpacing(unit);
    auto* demo = new PictureButton(
        tr("Open the Demo"),
        hasDemo ? tr("MobileNetV2 on CIFAR-10 with 4-bit weights, which cost it a quarter of its accuracy")
                : tr("The demo files are not installed"),
        [images = someImages(demoImages)](QPainter& painter, const QRectF& rect) {
            paintImages(painter, rect, images);
        });
    auto* tour = new PictureButton(
        tr("Take the Tour"), tr("Five steps with the demo, from the most sensitive layer to the export"),
        [this](QPainter& painter, const QRectF& rect) { paintChain(painter, rect, themeOf(palette())); });
    for (PictureButton* card : {demo, tour}) {
        card->setEnabled(hasDemo);
        cards->addWidget(card);
    }
    const auto part = [&](QLayout* content) {
        auto* widget = new QWidget;
        content->setContentsMargins(0, 0, 0, unit / 2);
        widget->setLayout(content);
        column->addWidget(widget);
        return widget;
    };
    m_pictures = part(cards);
    auto* recent = new QVBoxLayout;
    recent->setSpacing(unit / 2);
    recent->addWidget(makeLabel(tr("RECENT"), "heading", 0.85, QFont::Bold));
    m_recent = new QVBoxLayout;
    m_recent->setSpacing(unit / 4);
    recent->addLayout(m_recent);
    m_recentPart = part(recent);
    outer->addWidget(m_card, 0, Qt::AlignHCenter);
    outer->addStretch(3);
    connect(demo, &QPushButton::clicked, this, &StartPage::demoRequested);
    connect(tour, &QPushButton::clicked, this, &StartPage::tourRequested);
    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    refresh();
}

void StartPage::setBusy(const QString& text) {
    m_busy->setText(text);
    m_busy->setVisible(!text.isEmpty());
}

void StartPage::refresh() {
    clearLayout(m_recent);
    const QStringList paths = recentModels();
    for (const QString& path : paths.mid(0, kRecent)) {
        auto* row = new QHBoxLayout;
        auto* link = makeLink(QFileInfo(path).fileName(), path);
        link->setCursor(Qt::PointingHandCursor);
        auto* folder = new ElidedLabel(QFileInfo(path).path(), Qt::ElideMiddle);
        setRole(folder, "faint");
        row->addWidget(link);
        row->addWidget(folder, 1);
        m_recent->addLayout(row);
        connect(link, &QPushButton::clicked, this, [this, path] { Q_EMIT recentChosen(path); });
    }
    fit();
}

void StartPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

/// In a low window, the recent files are hidden (they are also in the File menu), and then the pictures (the
/// demo and the tour are also in the File and Help menus), so that nothing is squeezed.
void StartPage::fit() {
    const auto tooHigh = [this] { return m_card->layout()->sizeHint().height() > height(); };
    m_recentPart->setVisible(m_recent->count() > 0);
    m_pictures->show();
    if (tooHigh()) m_recentPart->hide();
    if (tooHigh()) m_pictures->hide();
}

void StartPage::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.fillRect(rect(), colors.canvas);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(colors.panel);
    painter.setPen(QPen(colors.border, 1.5, Qt::DashLine));
    painter.drawRoundedRect(QRectF(m_card->geometry()).adjusted(0.5, 0.5, -0.5, -0.5), 12, 12);
}

}  // namespace quantloupe::ui
