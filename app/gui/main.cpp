// SPDX-License-Identifier: Apache-2.0
// The window's program: command line, theme, screenshot; everything else is in ui/.
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QStyleFactory>
#include <QTimer>
#include <algorithm>
#include <clocale>
#include <cstdio>
#include <optional>
#include <string_view>

#include "main_window.h"
#include "style/theme.h"

namespace {

using namespace quantloupe;
using namespace quantloupe::ui;

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

struct Arguments {
    OpenRequest request;
    bool demo = false;
    QString screenshot, theme;
};

[[noreturn]] void wrongUsage(const QString& text) {
    std::fprintf(stderr, "quantloupe: %s\n", qPrintable(text));
    std::exit(kExitUsage);
}

Arguments readArguments(const QCoreApplication& application) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("A loupe for quantized networks: see which layers quantization hurts and tune them."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("MODEL"), QStringLiteral("ONNX file or project (.quantloupe) to open"),
                                 QStringLiteral("[MODEL]"));
    const auto option = [&parser](const char* name, const char* text, const char* value) {
        parser.addOption({QString::fromLatin1(name), QString::fromLatin1(text), QString::fromLatin1(value)});
    };
    option("data", "images or tensors to evaluate on", "DATA");
    option("calibration-data", "images or tensors that calibrate; without it half of the data does", "DATA");
    option("config", "configuration to start from", "FILE");
    parser.addOption({QStringLiteral("demo"), QStringLiteral("open the bundled model")});
    option("screenshot", "render the window once the first evaluation is in, and exit", "FILE.png");
    option("theme", "light or dark; without it the desktop's", "THEME");
    parser.process(application);

    Arguments arguments;
    const QStringList positional = parser.positionalArguments();
    const auto value = [&parser](const char* name) {
        return parser.value(QString::fromLatin1(name)).toStdString();
    };
    if (positional.size() > 1) wrongUsage(QStringLiteral("one model at a time, please"));
    if (!positional.isEmpty()) arguments.request.model = positional.front().toStdString();
    arguments.request.data = value("data");
    arguments.request.calibration = value("calibration-data");
    arguments.request.config = value("config");
    arguments.demo = parser.isSet(QStringLiteral("demo"));
    arguments.screenshot = parser.value(QStringLiteral("screenshot"));
    arguments.theme = parser.value(QStringLiteral("theme"));
    if (arguments.demo && !positional.isEmpty()) wrongUsage(QStringLiteral("--demo opens its own model"));
    if (positional.isEmpty() && !arguments.demo &&
        (!arguments.request.data.empty() || !arguments.request.config.empty()))
        wrongUsage(QStringLiteral("--data and --config need a MODEL"));
    if (!arguments.theme.isEmpty() && arguments.theme != QLatin1String("light") &&
        arguments.theme != QLatin1String("dark"))
        wrongUsage(QStringLiteral("--theme is light or dark"));
    return arguments;
}

/// Ends the program: with the picture once everything is in, or with the error.
void screenshotWhenReady(MainWindow& window, const QString& path) {
    Document* document = window.document();
    const auto shoot = [&window, path] {
        window.arrangeForScreenshot();
        // Layouts and posted paints first.
        QTimer::singleShot(200, &window, [&window, path] {
            if (window.grab().save(path)) {
                QApplication::exit(0);
            } else {
                std::fprintf(stderr, "quantloupe: cannot write %s\n", qPrintable(path));
                QApplication::exit(kExitFailure);
            }
        });
    };
    const auto ready = [document] {
        return document->hasModel() && document->picture() && document->evaluation();
    };
    QObject::connect(document, &Document::evaluationFinished, &window, [document, shoot, ready] {
        if (ready())
            shoot();
        else
            QObject::connect(document, &Document::pictureChanged, document, [shoot, ready] {
                if (ready()) shoot();
            });
    });
    QObject::connect(document, &Document::failed, &window, [](const Failure& failure) {
        std::fprintf(stderr, "quantloupe: %s\n", qPrintable(failure.text));
        QApplication::exit(kExitFailure);
    });
}

/// --help and --version need no display; a QApplication without one ends the program.
bool onlyTells(int argc, char** argv) {
    return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
        return argument == "-h" || argument == "--help" || argument == "--help-all" || argument == "-v" ||
               argument == "--version";
    });
}

}  // namespace

int main(int argc, char** argv) {
    QCoreApplication::setApplicationName(QStringLiteral("quantloupe"));
    QCoreApplication::setOrganizationName(QStringLiteral("quantloupe"));
    QCoreApplication::setApplicationVersion(QStringLiteral(QUANTLOUPE_VERSION));
    if (argc > 1 && onlyTells(argc, argv)) {
        const QCoreApplication application(argc, argv);
        readArguments(application);
        return 0;
    }
    QApplication application(argc, argv);
    std::setlocale(LC_NUMERIC, "C");  // QApplication takes the desktop's: numbers in files must not follow it
    QApplication::setApplicationDisplayName({});
    QGuiApplication::setDesktopFileName(QStringLiteral("quantloupe"));
    const Arguments arguments = readArguments(application);

    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setFont(applicationFont());
    if (!arguments.theme.isEmpty())
        QApplication::setPalette(paletteOf(theme(arguments.theme == QLatin1String("dark"))));

    MainWindow window(QUANTLOUPE_RESOURCE_DIR);
    const bool opens = arguments.demo || !arguments.request.model.empty();
    if (!arguments.screenshot.isEmpty()) {
        window.setAskBeforeClosing(false);
        if (opens)
            screenshotWhenReady(window, arguments.screenshot);
        else
            QTimer::singleShot(300, &window, [&] {
                const bool saved = window.grab().save(arguments.screenshot);
                QApplication::exit(saved ? 0 : kExitFailure);
            });
    }
    if (arguments.screenshot.isEmpty()) {
        window.keepLayout();
        window.enableRecovery(recoveryFolder());
    }
    window.show();
    if (arguments.demo) {
        if (!window.openDemo(arguments.request) && !arguments.screenshot.isEmpty()) {
            std::fprintf(stderr, "quantloupe: the demo's files are not installed\n");
            return kExitFailure;
        }
    } else if (opens) {
        window.open(arguments.request);
    }
    return QApplication::exec();
}
