// SPDX-License-Identifier: Apache-2.0
// The desktop application: command line, theme, screenshot. Everything else is in ui/.
#include <QApplication>
#include <QLibraryInfo>
#include <QPointer>
#include <QScopeGuard>
#include <QTranslator>
#include <clocale>
#include <cstdio>
#include <exception>

#include "arguments.h"
#include "common/installed_files.h"
#include "common/program_version.h"
#include "config/config_json.h"
#include "document/autosave.h"
#include "screenshot.h"
#include "style/icons.h"
#include "style/theme.h"
#include "style/theme_choice.h"
#include "style/visible_indicators.h"
#include "window/main_window.h"

namespace {

using namespace quantloupe;
using namespace quantloupe::ui;

constexpr int kExitFailure = 1;

/// Installs the translation for the desktop's language if the resources have one. Otherwise everything is
/// English, including Qt's own texts.
void translate(QApplication& application) {
    auto* ours = new QTranslator(&application);
    auto* qt = new QTranslator(&application);
    const QLocale locale;
    if (!ours->load(locale, QStringLiteral("quantloupe"), QStringLiteral("_"),
                    QString::fromStdString((sharedFiles() / "translations").string())))
        return;
    QCoreApplication::installTranslator(ours);
    if (qt->load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                 QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(qt);
}

/// Writes the configuration after every change, for a program that reads it when the window is closed.
void saveEveryChange(MainWindow& window, const std::filesystem::path& file) {
    window.setAskBeforeClosing(false);
    Document* document = window.document();
    QObject::connect(document, &Document::configChanged, document, [document, file] {
        if (!document->hasModel()) return;
        try {
            document->openedPaths().checkOutput(file);
            saveConfig(document->config(), file);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "quantloupe: %s\n", error.what());
            document->say(MessageKind::Error, QString::fromUtf8(error.what()));
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    useBundledFiles();
    QCoreApplication::setApplicationName(QStringLiteral("quantloupe"));
    QCoreApplication::setOrganizationName(QStringLiteral("quantloupe"));
    QCoreApplication::setApplicationVersion(QString::fromStdString(versionText()));
    if (onlyPrintsText(argc, argv)) readArguments(argc, argv);
    if (pictureWithoutDisplay(argc, argv)) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    translate(application);
    // QApplication sets the desktop's locale, which must not affect numbers in files. Messages of the engine,
    // which contain those of the system, are in English.
    for (const int category : {LC_NUMERIC, LC_MESSAGES}) std::setlocale(category, "C");
    QApplication::setApplicationDisplayName({});
    QGuiApplication::setDesktopFileName(QStringLiteral("quantloupe"));
    const Arguments arguments = readArguments(argc, argv);

    QApplication::setStyle(new VisibleIndicators);
    QApplication::setFont(applicationFont());
    QApplication::setWindowIcon(applicationIcon());
    applyThemeChoice(arguments.theme.isEmpty()                   ? chosenTheme()
                     : arguments.theme == QLatin1String("dark")  ? ThemeChoice::Dark
                     : arguments.theme == QLatin1String("light") ? ThemeChoice::Light
                                                                 : ThemeChoice::System);

    // Deleted when it is closed, so that its evaluations end even if other windows stay open.
    const QPointer<MainWindow> owned = new MainWindow(sharedFiles());
    owned->setAttribute(Qt::WA_DeleteOnClose);
    const auto deleteAtEnd = qScopeGuard([&owned] { delete owned.data(); });
    MainWindow& window = *owned;
    const bool opens = arguments.demo || !arguments.request.model.empty();
    const bool pictured = !arguments.screenshot.path.isEmpty();
    if (pictured) {
        window.setAskBeforeClosing(false);
        screenshotWhenReady(window, arguments.screenshot);
    } else if (arguments.savedConfig.empty()) {  // otherwise, the files of another program are temporary
        window.keepLayout();
        window.enableRecovery(recoveryFolder());
    }
    if (!arguments.savedConfig.empty()) saveEveryChange(window, arguments.savedConfig);
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
