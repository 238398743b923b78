// SPDX-License-Identifier: Apache-2.0
#include "screenshot.h"

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QMouseEvent>
#include <QTimer>
#include <cstdio>

#include "base/atomic_file.h"
#include "base/short_text.h"
#include "jobs/pending_work.h"
#include "widgets/command_palette.h"

namespace quantloupe {

namespace {

using namespace ui;

constexpr int kExitFailure = 1;
constexpr int kPoll = 10;        ///< ms between two checks for pending work
constexpr int kQuietRounds = 3;  ///< of the event loop without pending work; timers of 0 ms may start some

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

/// Takes one step at a time, each when the work of the previous one has finished.
class Photographer : public QObject {
  public:
    Photographer(MainWindow& window, ScreenshotOptions options)
        : QObject(&window), m_window(window), m_options(std::move(options)) {
        m_patience.setSingleShot(true);
        m_patience.setInterval(m_options.patience);
        connect(&m_patience, &QTimer::timeout, this, &Photographer::giveUp);
        // Large networks take long, but report progress.
        EvaluationJob* job = document().job();
        connect(job, &EvaluationJob::progressed, &m_patience, qOverload<>(&QTimer::start));
        connect(job, &EvaluationJob::backgroundProgressed, &m_patience, qOverload<>(&QTimer::start));
        connect(job, &EvaluationJob::queueChanged, &m_patience, qOverload<>(&QTimer::start));
        connect(&document(), &Document::failed, this, [](const Failure& failure) { fail(failure.text); });
        m_poll.setSingleShot(true);
        connect(&m_poll, &QTimer::timeout, this, &Photographer::look);
        m_patience.start();
        m_poll.start(0);
    }

  private:
    Document& document() { return *m_window.document(); }

    void look() {
        if (workPending()) {
            m_quiet = 0;
            m_poll.start(kPoll);
        } else if (++m_quiet < kQuietRounds) {
            m_poll.start(0);
        } else {
            m_quiet = 0;
            m_patience.start();
            if (step()) m_poll.start(0);
        }
    }

    /// Returns whether there are more steps.
    bool step() {
        if (document().hasModel() && !std::exchange(m_selected, true)) return select();
        if (!m_options.commands.isEmpty()) {
            const QString name = m_options.commands.takeFirst();
            if (runCommand(m_window, name)) return true;
            fail(QStringLiteral("--command: '%1' is unknown or not available now").arg(name));
            return false;
        }
        if (!m_options.until.isEmpty()) return previewUntil(std::exchange(m_options.until, {}));
        // Painting may request what is visible only now.
        const QImage before = std::exchange(m_picture, m_window.grab().toImage());
        if (m_picture != before) return true;
        save();
        return false;
    }

    bool select() {
        if (m_options.select.isEmpty()) {
            m_window.selectMostSensitive();
            return true;
        }
        std::vector<NodeId> layers;
        for (const QString& name : m_options.select) {
            const auto layer = layerNamed(m_window, name);
            if (!layer) return false;
            layers.push_back(*layer);
        }
        document().select(layers, layers.front());
        m_window.graphView()->canvas()->view()->centerOn(layers.front());
        return true;
    }

    /// Simulates moving the mouse pointer over the layer.
    bool previewUntil(const QString& name) {
        const auto layer = layerNamed(m_window, name);
        if (!layer) return false;
        if (!document().current().valid()) {
            fail(QStringLiteral("--until: no layer is selected to start from"));
            return false;
        }
        GraphCanvas* canvas = m_window.graphView()->canvas();
        canvas->until()->start(document().current());
        const auto box = canvas->index().boxOf(*layer);
        const QPointF at = canvas->transform().toView(toRectF(canvas->picture()->nodes[*box].box).center());
        QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QApplication::sendEvent(canvas, &move);
        return true;
    }

    void giveUp() {
        m_poll.stop();
        fail(QStringLiteral("--screenshot: the window was still working after %1 s without progress%2. Allow "
                            "more time with --timeout, or use less data")
                 .arg(m_options.patience.count() / 1000)
                 .arg(document().job()->paused() ? QStringLiteral(" (it is paused)") : QString()));
    }

    void save() {
        QByteArray png;
        QBuffer buffer(&png);
        buffer.open(QIODevice::WriteOnly);
        if (!m_picture.save(&buffer, "PNG"))
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
    QTimer m_patience, m_poll;
    QImage m_picture;
    int m_quiet = 0;
    bool m_selected = false;
};

}  // namespace

void screenshotWhenReady(MainWindow& window, const ScreenshotOptions& options) {
    if (!options.size.isEmpty()) window.resize(options.size);
    QApplication::setCursorFlashTime(0);  // text cursors do not blink
    window.makeReproducible();
    new Photographer(window, options);
}

}  // namespace quantloupe
