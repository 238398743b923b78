// SPDX-License-Identifier: Apache-2.0
// Responsiveness of the window while the engine works: opens a model, pans, hovers, selects and edits for
// some seconds, and prints the longest events of the window's thread (wall time, and processor time, which
// other programs do not affect). No event may take more than 50 ms. Also prints the time until the window is
// visible and usable. Usage: window_bench MODEL [SECONDS]
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QStyleFactory>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <QWheelEvent>
#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <ctime>

#include "models/layer_table_model.h"
#include "panels/layer_table.h"
#include "style/theme.h"
#include "window/main_window.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

double threadMilliseconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Stretch {
    double wall = 0, processor = 0;
    QString what;
};

/// Times every event that the event loop delivers; nested events count as part of the outermost.
class TimedApplication : public QApplication {
  public:
    using QApplication::QApplication;
    bool notify(QObject* receiver, QEvent* event) override {
        // Events of other threads also arrive here.
        if (QThread::currentThread() != thread() || m_inside) return QApplication::notify(receiver, event);
        m_inside = true;
        const QString what =
            QStringLiteral("%1 (%2) event %3")
                .arg(QString::fromLatin1(receiver->metaObject()->className()), receiver->objectName())
                .arg(event->type());
        const double before = threadMilliseconds();
        QElapsedTimer watch;
        watch.start();
        const bool result = QApplication::notify(receiver, event);
        const Stretch stretch{static_cast<double>(watch.nsecsElapsed()) / 1e6, threadMilliseconds() - before,
                              what};
        ++count;
        if (stretch.processor > 5) stretches.push_back(stretch);
        m_inside = false;
        return result;
    }
    std::vector<Stretch> stretches;
    std::size_t count = 0;

  private:
    bool m_inside = false;
};

/// Simulates one user action per tick.
void act(MainWindow& window, int tick) {
    GraphCanvas* canvas = window.graphView()->canvas();
    const QPointF middle = QRectF(canvas->rect()).center();
    const auto send = [&](QPointF at, QPoint turn, Qt::KeyboardModifiers keys) {
        QWheelEvent wheel(at, canvas->mapToGlobal(at), {}, turn, Qt::NoButton, keys, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(canvas, &wheel);
    };
    switch (tick % 8) {
        case 0:
            send(middle, {0, tick % 48 < 24 ? -240 : 240}, Qt::ControlModifier);
            break;
        case 7:
            if (window.document()->graph() && tick % 40 == 7) {
                const auto count = static_cast<int>(window.document()->graph()->nodeCount());
                window.document()->select(NodeId(static_cast<std::size_t>(tick * 37 % count)));
            }
            if (window.document()->graph() && tick % 200 == 199) window.document()->toggleSelection();
            break;
        default:
            send(middle + QPointF(tick % 5 * 20, 0), {0, -120}, {});
    }
}

void report(TimedApplication& application, const char* when) {
    std::ranges::sort(application.stretches, std::greater<>(), &Stretch::processor);
    fmt::print("{}: {} events\n", when, application.count);
    for (std::size_t i = 0; i < std::min<std::size_t>(12, application.stretches.size()); ++i) {
        const Stretch& stretch = application.stretches[i];
        fmt::print("  {:6.1f} ms of the processor, {:6.1f} ms in all: {}\n", stretch.processor, stretch.wall,
                   stretch.what.toStdString());
    }
    application.stretches.clear();
    application.count = 0;
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QElapsedTimer start;
    start.start();
    TimedApplication application(argc, argv);
    std::setlocale(LC_NUMERIC, "C");
    if (argc < 2) {
        fmt::print(stderr, "usage: window_bench MODEL [SECONDS]\n");
        return 2;
    }
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    qputenv("XDG_CACHE_HOME", settings.path().toUtf8());
    const double seconds = argc > 2 ? std::atof(argv[2]) : 20;
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setFont(applicationFont());
    MainWindow window;
    window.setAskBeforeClosing(false);
    window.show();
    QApplication::processEvents();
    fmt::print("window seen after {} ms\n", start.elapsed());
    QObject::connect(window.document(), &Document::modelChanged,
                     [&] { fmt::print("model there after {} ms\n", start.elapsed()); });
    QObject::connect(window.document(), &Document::pictureChanged, [&] {
        if (window.document()->picture()) fmt::print("graph drawn after {} ms\n", start.elapsed());
    });
    bool first = true;
    QObject::connect(window.document(), &Document::layersChanged, [&] {
        if (std::exchange(first, false)) fmt::print("states there after {} ms\n", start.elapsed());
    });
    OpenRequest request;
    request.model = argv[1];
    window.open(request);
    if (!QTest::qWaitFor([&] { return window.document()->picture() != nullptr; }, 60000)) return 1;
    report(application, "opening");
    // Sorts by the worst layers, as users do, so that every result sorts the table again.
    window.findChild<LayerTable*>()->view()->sortByColumn(LayerTableModel::LocalQs, Qt::DescendingOrder);
    int tick = 0;
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, [&] { act(window, tick++); });
    timer.start(16);
    QTest::qWait(static_cast<int>(seconds * 1000));
    timer.stop();
    report(application, "while the engine works");
    return 0;
}
