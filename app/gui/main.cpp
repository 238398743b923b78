// SPDX-License-Identifier: Apache-2.0
// The desktop application: command line, theme, screenshot. Everything else is in ui/.
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QLibraryInfo>
#include <QStyleFactory>
#include <QTranslator>
#include <algorithm>
#include <clocale>
#include <cstdio>
#include <optional>
#include <string_view>

#include "screenshot.h"
#include "style/icons.h"
#include "style/theme.h"
#include "window/main_window.h"

namespace {

using namespace quantloupe;
using namespace quantloupe::ui;

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

struct Arguments {
    OpenRequest request;
    bool demo = false;
    QString theme;
    ScreenshotOptions screenshot;
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
    parser.addPositionalArgument(QStringLiteral("MODEL"),
                                 QStringLiteral("ONNX file or project (.quantloupe) to open"),
                                 QStringLiteral("[MODEL]"));
    const auto option = [&parser](const char* name, const char* text, const char* value) {
        parser.addOption({QString::fromLatin1(name), QString::fromLatin1(text), QString::fromLatin1(value)});
    };
    option("data", "images or tensors to evaluate on", "DATA");
    option("calibration-data", "calibration images or tensors; default: half of the data", "DATA");
    option("config", "configuration to start from", "FILE");
    parser.addOption({QStringLiteral("demo"), QStringLiteral("open the bundled model")});
    option("screenshot", "save a picture of the window after the first evaluation and exit", "FILE.png");
    option("select", "for the screenshot: layer to select; can be repeated", "LAYER");
    option("until", "for the screenshot: preview skipping from the selected layer until this one", "LAYER");
    option("command", "for the screenshot: menu entry to choose first; can be repeated", "NAME");
    option("size", "for the screenshot: window size", "WIDTHxHEIGHT");
    option("theme", "light or dark; default: the desktop's theme", "THEME");
    parser.process(application);

    Arguments arguments;
    const QStringList positional = parser.positionalArguments();
    const auto value = [&parser](const char* name) {
        return parser.value(QString::fromLatin1(name)).toStdString();
    };
    if (positional.size() > 1) wrongUsage(QStringLiteral("only one model can be opened at a time"));
    if (!positional.isEmpty()) arguments.request.model = positional.front().toStdString();
    arguments.request.data = value("data");
    arguments.request.calibration = value("calibration-data");
    arguments.request.config = value("config");
    arguments.demo = parser.isSet(QStringLiteral("demo"));
    arguments.screenshot.path = parser.value(QStringLiteral("screenshot"));
    arguments.screenshot.select = parser.values(QStringLiteral("select"));
    arguments.screenshot.until = parser.value(QStringLiteral("until"));
    arguments.screenshot.commands = parser.values(QStringLiteral("command"));
    if (const QString size = parser.value(QStringLiteral("size")); !size.isEmpty()) {
        const QStringList sides = size.split(QLatin1Char('x'));
        if (sides.size() == 2) arguments.screenshot.size = QSize(sides[0].toInt(), sides[1].toInt());
        if (arguments.screenshot.size.isEmpty())
            wrongUsage(QStringLiteral("--size takes WIDTHxHEIGHT, for example 1280x720"));
    }
    arguments.theme = parser.value(QStringLiteral("theme"));
    if (arguments.demo && !positional.isEmpty()) wrongUsage(QStringLiteral("--demo opens its own model"));
    if (positional.isEmpty() && !arguments.demo &&
        (!arguments.request.data.empty() || !arguments.request.config.empty()))
        wrongUsage(QStringLiteral("--data and --config need a MODEL"));
    if (!arguments.theme.isEmpty() && arguments.theme != QLatin1String("light") &&
        arguments.theme != QLatin1String("dark"))
        wrongUsage(QStringLiteral("--theme takes light or dark"));
    return arguments;
}

/// True for --help and --version. They must work without a display, where creating a QApplication ends the
/// program.
bool onlyPrintsText(int argc, char** argv) {
    return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
        return argument == "-h" || argument == "--help" || argument == "--help-all" || argument == "-v" ||
               argument == "--version";
    });
}

/// True for --screenshot without a display: it is rendered offscreen.
bool pictureWithoutDisplay(int argc, char** argv) {
    for (const char* known : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (qEnvironmentVariableIsSet(known)) return false;
    return std::any_of(argv + 1, argv + argc,
                       [](std::string_view argument) { return argument.starts_with("--screenshot"); });
}

/// Installs the translation for the desktop's language if the resources have one. Otherwise everything is
/// English, including Qt's own texts.
void translate(QApplication& application) {
    auto* ours = new QTranslator(&application);
    auto* qt = new QTranslator(&application);
    const QLocale locale;
    if (!ours->load(locale, QStringLiteral("quantloupe"), QStringLiteral("_"),
                    QStringLiteral(QUANTLOUPE_RESOURCE_DIR "/translations")))
        return;
    QCoreApplication::installTranslator(ours);
    if (qt->load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                 QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(qt);
}

}  // namespace

int main(int argc, char** argv) {
    QCoreApplication::setApplicationName(QStringLiteral("quantloupe"));
    QCoreApplication::setOrganizationName(QStringLiteral("quantloupe"));
    QCoreApplication::setApplicationVersion(QStringLiteral(QUANTLOUPE_VERSION));
    if (argc > 1 && onlyPrintsText(argc, argv)) {
        const QCoreApplication application(argc, argv);
        readArguments(application);
        return 0;
    }
    if (pictureWithoutDisplay(argc, argv)) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    translate(application);
    std::setlocale(LC_NUMERIC,
                   "C");  // QApplication sets the desktop's locale, which must not affect numbers in files
    QApplication::setApplicationDisplayName({});
    QGuiApplication::setDesktopFileName(QStringLiteral("quantloupe"));
    const Arguments arguments = readArguments(application);

    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setFont(applicationFont());
    QApplication::setWindowIcon(applicationIcon());
    if (!arguments.theme.isEmpty())
        QApplication::setPalette(paletteOf(theme(arguments.theme == QLatin1String("dark"))));

    MainWindow window(QUANTLOUPE_RESOURCE_DIR);
    const bool opens = arguments.demo || !arguments.request.model.empty();
    const bool pictured = !arguments.screenshot.path.isEmpty();
    if (pictured) {
        window.setAskBeforeClosing(false);
        screenshotWhenReady(window, arguments.screenshot, opens);
    } else {
        window.keepLayout();
        window.enableRecovery(recoveryFolder());
    }
    window.show();
    if (arguments.demo) {
        if (!window.openDemo(arguments.request) && pictured) {
            std::fprintf(stderr, "quantloupe: the demo's files are not installed\n");
            return kExitFailure;
        }
    } else if (opens) {
        window.open(arguments.request);
    } else if (!pictured) {
        window.reopenLast();
    }
    return QApplication::exec();
}
