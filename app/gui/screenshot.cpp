// SPDX-License-Identifier: Apache-2.0
#include "screenshot.h"

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QMouseEvent>
#include <QTimer>
#include <cstdio>
#include <functional>
#include <memory>

#include "base/atomic_file.h"
#include "base/short_text.h"
#include "widgets/command_palette.h"

namespace quantloupe {

namespace {

using namespace ui;

constexpr int kExitFailure = 1;
constexpr int kSettles = 400;   ///< ms for layouts and posted paints
constexpr int kAnswers = 4000;  ///< ms for results that panels request in addition to the evaluation

void fail(const QString& text) {
    std::fprintf(stderr, "quantloupe: %s\n", shortMessage(text.toStdString()).c_str());
    // exit() has no effect before the event loop runs, for example if opening fails at once.
    QTimer::singleShot(0, qApp, [] { QApplication::exit(kExitFailure); });
}

bool runCommand(MainWindow& window, const QString& name) {
    for (QAction* action : window.allActions()) {
        if (actionName(*action).compare(name, Qt::CaseInsensitive) != 0) continue;
        if (!action->isEnabled()) return false;
        action->trigger();
        return true;
    }
    return false;
}

std::optional<NodeId> layerNamed(MainWindow& window, const QString& name) {
    const auto layer = window.document()->graph()->findNode(name.toStdString());
    if (!layer) fail(QStringLiteral("--select and --until: the model has no layer '%1'").arg(name));
    return layer;
}

class Photographer : public QObject {
  public:
    Photographer(MainWindow& window, ScreenshotOptions options)
        : QObject(&window), m_window(window), m_options(std::move(options)) {}

    void start() {
        if (std::exchange(m_started, true)) return;
        if (m_window.document()->hasModel() && !select()) return;
        next();
    }

  private:
    Document& document() { return *m_window.document(); }

    bool select() {
        if (m_options.select.isEmpty()) {
            m_window.arrangeForScreenshot();
            return true;
        }
        std::vector<NodeId> layers;
        for (const QString& name : m_options.select) {
            const auto layer = layerNamed(m_window, name);
            if (!layer) return false;
            layers.push_back(*layer);
        }
        document().select(layers, layers.front());
        m_window.graphView()->canvas()->centerOn(layers.front());
        return true;
    }

    /// Runs the next command when the previous one has finished.
    void next() {
        QTimer::singleShot(kSettles, this, [this] {
            if (document().evaluating() || document().job()->busy()) return next();
            if (!m_options.commands.isEmpty()) {
                const QString name = m_options.commands.takeFirst();
                if (!runCommand(m_window, name))
                    return fail(QStringLiteral("--command: '%1' is unknown or not available now").arg(name));
                return next();
            }
            if (!m_options.until.isEmpty() && !previewUntil(std::exchange(m_options.until, {}))) return;
            QTimer::singleShot(kAnswers, this, [this] { shoot(); });
        });
    }

    /// Simulates moving the mouse pointer over the layer.
    bool previewUntil(const QString& name) {
        const auto layer = layerNamed(m_window, name);
        if (!layer || !document().current().valid()) return false;
        GraphCanvas* canvas = m_window.graphView()->canvas();
        canvas->startUntil(document().current());
        const auto box = canvas->index().boxOf(*layer);
        const QPointF at = canvas->transform().toView(toRectF(canvas->picture()->nodes[*box].box).center());
        QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QApplication::sendEvent(canvas, &move);
        return true;
    }

    void shoot() {
        QByteArray png;
        QBuffer buffer(&png);
        buffer.open(QIODevice::WriteOnly);
        if (!m_window.grab().save(&buffer, "PNG"))
            return fail(QStringLiteral("the window cannot be rendered as PNG"));
        try {
            const std::filesystem::path path = m_options.path.toStdString();
            document().inputPaths().checkOutput(path);
            writeFileAtomically(path, {png.constData(), static_cast<std::size_t>(png.size())});
        } catch (const std::exception& error) {
            return fail(QString::fromUtf8(error.what()));
        }
        QApplication::exit(0);
    }

    MainWindow& m_window;
    ScreenshotOptions m_options;
    bool m_started = false;
};

}  // namespace

void screenshotWhenReady(MainWindow& window, const ScreenshotOptions& options, bool opens) {
    if (!options.size.isEmpty()) window.resize(options.size);
    auto* photographer = new Photographer(window, options);
    if (!opens) {
        QTimer::singleShot(kSettles, photographer, [photographer] { photographer->start(); });
        return;
    }
    Document* document = window.document();
    const auto ready = [document, photographer] {
        if (document->hasModel() && document->picture() && document->evaluation() && !document->evaluating())
            photographer->start();
    };
    QObject::connect(document, &Document::evaluationFinished, photographer, ready);
    QObject::connect(document, &Document::pictureChanged, photographer, ready);
    QObject::connect(document, &Document::failed, photographer,
                     [](const Failure& failure) { fail(failure.text); });
}

}  // namespace quantloupe
