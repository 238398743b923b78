// SPDX-License-Identifier: Apache-2.0
// The files that "cmake --install" installs are complete, can be moved, and do not depend on the source
// folder. packaging/test-packages tries the packages that are made of it.
#include <QDirIterator>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "support/run_program.h"

using namespace quantloupe::test;

namespace {

Outcome run(const QString& program, const QStringList& arguments, const QStringList& variables = {}) {
    return runProgram(program, arguments, {}, variables);
}

QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class InstallTest : public QObject {
    Q_OBJECT

    const QString m_build = QFileInfo(QStringLiteral(QUANTLOUPE_BIN_DIR)).path();
    QTemporaryDir m_folder;
    QString m_prefix;

    QString demo(const char* name) const {
        return m_prefix + QStringLiteral("/share/quantloupe/demo/") + QString::fromUtf8(name);
    }

  private Q_SLOTS:
    void initTestCase() {
        const QString first = m_folder.filePath(QStringLiteral("first"));
        const Outcome installed = run(QStringLiteral("cmake"), {QStringLiteral("--install"), m_build,
                                                                QStringLiteral("--prefix"), first});
        QVERIFY2(installed.code == 0, installed.text());
        // All tests use the installation after it was moved, to a path with a space.
        m_prefix = m_folder.filePath(QStringLiteral("moved here"));
        QVERIFY(QDir().rename(first, m_prefix));
    }

    void installationIsComplete_data() {
        QTest::addColumn<QString>("path");
        for (const char* path : {"bin/quantloupe",
                                 "bin/quantloupe-cli",
                                 "lib/quantloupe/libquantloupe.so",
                                 "lib/python3/dist-packages/quantloupe/__init__.py",
                                 "lib/python3/dist-packages/quantloupe/py.typed",
                                 "share/quantloupe/demo/mobilenetv2_cifar10.onnx",
                                 "share/quantloupe/demo/val/cat",
                                 "share/quantloupe/demo/calibration",
                                 "share/applications/quantloupe.desktop",
                                 "share/mime/packages/quantloupe.xml",
                                 "share/metainfo/io.quantloupe.Quantloupe.metainfo.xml",
                                 "share/icons/hicolor/scalable/apps/quantloupe.svg",
                                 "share/doc/quantloupe/README.md",
                                 "share/doc/quantloupe/LICENSE",
                                 "share/doc/quantloupe/docs/window.md",
                                 "share/doc/quantloupe/docs/config.schema.json",
                                 "share/doc/quantloupe/docs/images/main_window.png",
                                 "share/man/man1/quantloupe.1",
                                 "share/man/man1/quantloupe-cli.1",
                                 "share/bash-completion/completions/quantloupe-cli",
                                 "share/zsh/site-functions/_quantloupe-cli",
                                 "share/fish/vendor_completions.d/quantloupe-cli.fish"})
            QTest::newRow(path) << QString::fromUtf8(path);
    }
    void installationIsComplete() {
        QFETCH(QString, path);
        QVERIFY(QFileInfo::exists(m_prefix + QLatin1Char('/') + path));
    }

    void noFileNamesTheSourceOrBuildFolder() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("sanitizers put the names of source files into the programs, which are not released");
#endif
        int count = 0;
        QDirIterator files(m_prefix, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const QByteArray bytes = content(files.next());
            for (const QByteArray& folder : {QByteArray(QUANTLOUPE_SOURCE_DIR "/"), m_build.toUtf8() + '/'})
                QVERIFY2(!bytes.contains(folder), qPrintable(files.filePath()));
            ++count;
        }
        QVERIFY(count > 600);  // the demo alone has 600 images
    }

    void theCommandLineRuns() {
        const Outcome outcome =
            run(m_prefix + QStringLiteral("/bin/quantloupe-cli"),
                {QStringLiteral("analyze"), demo("mobilenetv2_cifar10.onnx"), QStringLiteral("--config"),
                 demo("demo.config.json"), QStringLiteral("--data"), demo("val"), QStringLiteral("--samples"),
                 QStringLiteral("8")});
        QVERIFY2(outcome.code == 0, outcome.text());
        QVERIFY(outcome.out.contains("8 samples evaluated"));
    }

    void thePythonPackageRuns() {
        const QString code =
            QStringLiteral("import quantloupe as ql; print(len(ql.Session('%1').layer_names))")
                .arg(demo("mobilenetv2_cifar10.onnx"));
        const Outcome outcome =
            run(QStringLiteral("python3"), {QStringLiteral("-c"), code},
                {QStringLiteral("PYTHONPATH=") + m_prefix + QStringLiteral("/lib/python3/dist-packages"),
                 QStringLiteral("PYTHONDONTWRITEBYTECODE=1")});
        QVERIFY2(outcome.code == 0, outcome.text());
        QCOMPARE(outcome.out.trimmed(), QString("152"));
    }

    void helpNamesTheInstalledDocumentation() {
        const Outcome outcome =
            run(m_prefix + QStringLiteral("/bin/quantloupe-cli"), {QStringLiteral("--help")});
        QVERIFY(outcome.out.contains("Documentation: " + m_prefix + "/share/doc/quantloupe"));
    }

    void theWindowFindsTheDemo() {
        const QString picture = m_folder.filePath(QStringLiteral("window.png"));
        const QString settings = m_folder.filePath(QStringLiteral("settings"));
        const Outcome outcome =
            run(m_prefix + QStringLiteral("/bin/quantloupe"),
                {QStringLiteral("--demo"), QStringLiteral("--screenshot"), picture},
                {QStringLiteral("QT_QPA_PLATFORM=offscreen"), QStringLiteral("XDG_CONFIG_HOME=") + settings,
                 QStringLiteral("XDG_CACHE_HOME=") + settings, QStringLiteral("XDG_DATA_HOME=") + settings});
        QVERIFY2(outcome.code == 0, outcome.text());
        QVERIFY(content(picture).startsWith("\x89PNG"));
    }

    void installsBelowDestdir() {
        const QString stage = m_folder.filePath(QStringLiteral("stage"));
        const Outcome outcome = run(QStringLiteral("cmake"),
                                    {QStringLiteral("--install"), m_build, QStringLiteral("--prefix"),
                                     QStringLiteral("/nowhere/quantloupe")},
                                    {QStringLiteral("DESTDIR=") + stage});
        QVERIFY2(outcome.code == 0, outcome.text());
        QVERIFY(QFileInfo::exists(stage + QStringLiteral("/nowhere/quantloupe/bin/quantloupe-cli")));
        QVERIFY(!QFileInfo::exists(QStringLiteral("/nowhere")));
    }

    void versionStatesTheCommit() {
        const Outcome git =
            run(QStringLiteral("git"),
                {QStringLiteral("-C"), QStringLiteral(QUANTLOUPE_SOURCE_DIR), QStringLiteral("rev-parse"),
                 QStringLiteral("--short=12"), QStringLiteral("HEAD")});
        for (const char* program : {"/bin/quantloupe", "/bin/quantloupe-cli"}) {
            const Outcome outcome = run(m_prefix + QString::fromUtf8(program), {QStringLiteral("--version")});
            QVERIFY2(outcome.out.startsWith("quantloupe 0."), outcome.text());
            if (git.code == 0 && QFileInfo::exists(QStringLiteral(QUANTLOUPE_SOURCE_DIR "/.git")))
                QVERIFY2(outcome.out.contains("(commit " + git.out.trimmed()), outcome.text());
        }
    }

    /// The files to which the desktop entry, the MIME types and the component refer exist.
    void desktopFilesReferToInstalledFiles() {
        const QByteArray entry = content(m_prefix + QStringLiteral("/share/applications/quantloupe.desktop"));
        QVERIFY(entry.contains("\nExec=quantloupe %f\n") && entry.contains("\nIcon=quantloupe\n"));
        const QByteArray types = content(m_prefix + QStringLiteral("/share/mime/packages/quantloupe.xml"));
        const QByteArray component =
            content(m_prefix + QStringLiteral("/share/metainfo/io.quantloupe.Quantloupe.metainfo.xml"));
        QVERIFY(component.contains("<launchable type=\"desktop-id\">quantloupe.desktop</launchable>"));
        for (const char* type : {"application/x-onnx", "application/x-quantloupe-project"})
            QVERIFY(entry.contains(type) && types.contains(type) && component.contains(type));
    }

    /// The release that the component and the changelog state is this version.
    void versionsAgree() {
        const Outcome outcome =
            run(m_prefix + QStringLiteral("/bin/quantloupe-cli"), {QStringLiteral("--version")});
        const QByteArray version = outcome.out.simplified().split(' ').value(1).toUtf8();
        QVERIFY(!version.isEmpty());
        const QByteArray component =
            content(m_prefix + QStringLiteral("/share/metainfo/io.quantloupe.Quantloupe.metainfo.xml"));
        QVERIFY(component.contains("<release version=\"" + version + "\""));
        QVERIFY(content(m_prefix + QStringLiteral("/share/doc/quantloupe/CHANGELOG.md")).contains(version));
    }
};

QTEST_GUILESS_MAIN(InstallTest)
#include "install_test.moc"
