// SPDX-License-Identifier: Apache-2.0
#include "dialogs/documentation_window.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QFile>
#include <QListWidget>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBlock>
#include <QVBoxLayout>

#include "style/path_text.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

constexpr const char* kPage = "documentation";

struct Page {
    const char *file, *title;
};
constexpr Page kPages[] = {{"window.md", QT_TRANSLATE_NOOP("Words", "The window")},
                           {"graph.md", QT_TRANSLATE_NOOP("Words", "The graph")},
                           {"metrics.md", QT_TRANSLATE_NOOP("Words", "Accuracy, detection, segmentation")},
                           {"calibration.md", QT_TRANSLATE_NOOP("Words", "Calibration and schemes")},
                           {"cost.md", QT_TRANSLATE_NOOP("Words", "Cost and latency")},
                           {"equalization.md", QT_TRANSLATE_NOOP("Words", "Equalization and refinement")},
                           {"exports.md", QT_TRANSLATE_NOOP("Words", "Export and import")},
                           {"precision.md", QT_TRANSLATE_NOOP("Words", "Precision of each layer")},
                           {"projects.md", QT_TRANSLATE_NOOP("Words", "Projects")},
                           {"command_line.md", QT_TRANSLATE_NOOP("Words", "Command line")},
                           {"from_training.md", QT_TRANSLATE_NOOP("Words", "From training to ONNX")},
                           {"operators.md", QT_TRANSLATE_NOOP("Words", "Operators")}};

/// Shows pictures no wider than the page.
class PageBrowser : public QTextBrowser {
  protected:
    QVariant loadResource(int type, const QUrl& name) override {
        QVariant resource = QTextBrowser::loadResource(type, name);
        if (type != QTextDocument::ImageResource) return resource;
        QImage image = resource.canConvert<QImage>() ? resource.value<QImage>() : QImage();
        if (image.isNull()) image.loadFromData(resource.toByteArray());
        const double ratio = devicePixelRatioF();
        const double width = viewport()->width() - 2 * document()->documentMargin();
        if (image.width() > width * ratio)
            image = image.scaledToWidth(static_cast<int>(width * ratio), Qt::SmoothTransformation);
        image.setDevicePixelRatio(ratio);
        return image;
    }
    /// Pictures keep the size in which they were loaded, so the page has to be loaded again.
    void resizeEvent(QResizeEvent* event) override {
        QTextBrowser::resizeEvent(event);
        if (event->size().width() == event->oldSize().width() || source().isEmpty()) return;
        const int place = verticalScrollBar()->value();
        reload();
        verticalScrollBar()->setValue(place);
    }
};

/// Returns the anchor of a heading as on GitHub: "tuning-panel-left" for "Tuning panel (left)".
QString anchorOf(const QString& heading) {
    QString anchor;
    const QString text = heading.toLower();
    for (const QChar c : text) {
        if (c.isLetterOrNumber() || c == QLatin1Char('_') || c == QLatin1Char('-')) anchor += c;
        if (c == QLatin1Char(' ')) anchor += QLatin1Char('-');
    }
    return anchor;
}

}  // namespace

QString documentationOf(const QWidget* widget) {
    for (; widget; widget = widget->parentWidget())
        if (QString page = widget->property(kPage).toString(); !page.isEmpty()) return page;
    return QStringLiteral("window.md");
}

void setDocumentation(QWidget* widget, const char* page) {
    widget->setProperty(kPage, QString::fromLatin1(page));
}

std::optional<std::filesystem::path> findDocumentation(const std::filesystem::path& fallback) {
    const std::filesystem::path program = QCoreApplication::applicationDirPath().toStdString();
    for (const auto& folder : {program / ".." / "share" / "doc" / "quantloupe" / "docs", fallback}) {
        std::error_code ignored;
        if (!folder.empty() && std::filesystem::exists(folder / "window.md", ignored))
            return folder.lexically_normal();
    }
    return std::nullopt;
}

DocumentationWindow::DocumentationWindow(const std::filesystem::path& folder, QWidget* parent)
    : QWidget(parent, Qt::Window), m_folder(folder) {
    const int unit = fontMetrics().height();
    setWindowTitle(tr("Documentation \u2014 Quantloupe"));
    resizeWithinScreen(this, QSize(unit * 62, unit * 46));
    auto* pages = new QListWidget;
    pages->setAccessibleName(tr("Pages"));
    pages->setFixedWidth(unit * 14);
    for (const Page& page : kPages) {
        auto* item = new QListWidgetItem(Words::tr(page.title), pages);
        item->setData(Qt::UserRole, QString::fromLatin1(page.file));
    }
    m_browser = new PageBrowser;
    m_browser->setFrameShape(QFrame::NoFrame);
    m_browser->setOpenLinks(false);
    m_browser->setAccessibleName(tr("Documentation"));
    m_browser->document()->setDocumentMargin(unit);
    auto* back = new QPushButton(tr("Back"));
    back->setEnabled(false);
    connect(m_browser, &QTextBrowser::backwardAvailable, back, &QPushButton::setEnabled);
    connect(back, &QPushButton::clicked, m_browser, &QTextBrowser::backward);
    auto* left = new QVBoxLayout;
    left->addWidget(back, 0, Qt::AlignLeft);
    left->addWidget(pages, 1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit / 2, unit / 2, 0, 0);
    row->addLayout(left);
    row->addWidget(m_browser, 1);
    connect(pages, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (item) open(item->data(Qt::UserRole).toString());
    });
    connect(m_browser, &QTextBrowser::anchorClicked, this, &DocumentationWindow::follow);
    connect(m_browser, &QTextBrowser::sourceChanged, this, [pages](const QUrl& source) {
        const QSignalBlocker quiet(pages);
        for (int i = 0; i < pages->count(); ++i)
            if (pages->item(i)->data(Qt::UserRole).toString() == source.fileName()) pages->setCurrentRow(i);
    });
}

void DocumentationWindow::open(const QString& page) {
    const QString file = page.section(QLatin1Char('#'), 0, 0), heading = page.section(QLatin1Char('#'), 1);
    const QUrl url = QUrl::fromLocalFile(pathText(m_folder) + QLatin1Char('/') + file);
    if (m_browser->source() != url) m_browser->setSource(url, QTextDocument::MarkdownResource);
    scrollTo(heading);
}

/// Pages are shown here; all other links open in the browser.
void DocumentationWindow::follow(const QUrl& link) {
    const QUrl whole = m_browser->source().resolved(link);
    if (whole.isLocalFile() && whole.path().endsWith(QLatin1String(".md"))) {
        QUrl file = whole;
        file.setFragment({});
        if (m_browser->source() != file) m_browser->setSource(file, QTextDocument::MarkdownResource);
        scrollTo(whole.fragment());
    } else {
        QDesktopServices::openUrl(whole);
    }
}

void DocumentationWindow::scrollTo(const QString& heading) {
    if (heading.isEmpty()) return m_browser->verticalScrollBar()->setValue(0);
    for (QTextBlock block = m_browser->document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || anchorOf(block.text()) != heading) continue;
        m_browser->setTextCursor(QTextCursor(block));
        const int top = m_browser->cursorRect().top() + m_browser->verticalScrollBar()->value();
        m_browser->verticalScrollBar()->setValue(top - fontMetrics().height());
        return;
    }
}

}  // namespace quantloupe::ui
