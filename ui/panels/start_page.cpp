// SPDX-License-Identifier: Apache-2.0
#include "panels/start_page.h"

#include <QFileInfo>
#include <QPainter>

#include "document/recent_files.h"
#include "style/theme.h"

namespace quantloupe::ui {

StartPage::StartPage(bool hasDemo, QWidget* parent) : QWidget(parent) {
    const int unit = fontMetrics().height();
    auto* outer = new QVBoxLayout(this);
    outer->addStretch(2);
    m_card = new QWidget;
    m_card->setFixedWidth(unit * 30);
    auto* column = new QVBoxLayout(m_card);
    column->setContentsMargins(unit * 3, unit * 3, unit * 3, unit * 2);
    column->setSpacing(unit * 2 / 3);
    column->addWidget(makeLabel(tr("Quantloupe"), "", 2.1, QFont::Bold));
    auto* what =
        makeLabel(tr("See which layers quantization hurts, keep them in float or equalize them, and see the "
                     "new accuracy at once."),
                  "muted", 1.08);
    what->setWordWrap(true);
    // A centered column does not request the height that wrapped text needs.
    what->setFixedHeight(what->heightForWidth(unit * 24) + unit / 4);
    column->addWidget(what);
    column->addSpacing(unit);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(unit / 2);
    auto* demo = new QPushButton(tr("Open the Demo"));
    demo->setProperty("primary", true);
    demo->setEnabled(hasDemo);
    demo->setToolTip(hasDemo ? tr("MobileNetV2 on CIFAR-10 with 4-bit weights")
                             : tr("The demo files are not installed"));
    auto* open = new QPushButton(tr("Open a Model\u2026"));
    buttons->addWidget(demo);
    buttons->addWidget(open);
    buttons->addStretch(1);
    column->addLayout(buttons);
    auto* drop = makeLabel(tr("or drop an .onnx or .quantloupe file here"), "faint");
    column->addWidget(drop);
    m_busy = makeLabel({}, "muted");
    m_busy->hide();
    column->addWidget(m_busy);
    column->addSpacing(unit);
    m_recentHeading = makeLabel(tr("RECENT"), "heading", 0.85, QFont::Bold);
    column->addWidget(m_recentHeading);
    m_recent = new QVBoxLayout;
    m_recent->setSpacing(unit / 4);
    column->addLayout(m_recent);
    outer->addWidget(m_card, 0, Qt::AlignHCenter);
    outer->addStretch(3);
    connect(demo, &QPushButton::clicked, this, &StartPage::demoRequested);
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
    m_recentHeading->setVisible(!paths.isEmpty());
    for (const QString& path : paths.mid(0, 5)) {
        auto* row = new QHBoxLayout;
        auto* link = new QPushButton(QFileInfo(path).fileName());
        link->setProperty("link", true);
        link->setCursor(Qt::PointingHandCursor);
        link->setToolTip(path);
        auto* folder = new ElidedLabel(QFileInfo(path).path(), Qt::ElideMiddle);
        setRole(folder, "faint");
        row->addWidget(link);
        row->addWidget(folder, 1);
        m_recent->addLayout(row);
        connect(link, &QPushButton::clicked, this, [this, path] { Q_EMIT recentChosen(path); });
    }
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
