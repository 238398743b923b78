// SPDX-License-Identifier: Apache-2.0
// Projects in the window: saving, opening, going back in the history, a changed model, and a crash.
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QTest>

#include "base/atomic_file.h"
#include "data/numpy_file.h"
#include "document/autosave.h"
#include "document/recent_files.h"
#include "ui_test_support.h"
#include "window/main_window.h"

using namespace quantloupe;
using namespace quantloupe::ui;
namespace fs = std::filesystem;

class ProjectTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_settings); }
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_window = makeWindow();
        std::vector<float> values(16 * 128);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1;
        saveNpz({{"X", Constant::fromFloats({16, 2, 8, 8}, values)}}, file("data.npz"));
        m_window->open({test::writeModel(*m_folder), file("data.npz"), {}, {}});
        QVERIFY(waitUntilMeasured());
    }
    void cleanup() {
        m_window.reset();
        m_folder.reset();
    }

    void projectRestoresEverything() {
        toggle("Conv_0");
        document().pinBaseline(0);
        document().select(node("Relu_3"));
        m_window->layerTable()->filterLine()->setText(QStringLiteral("op:relu"));
        m_window->graphView()->canvas()->setMetric(Metric::Macs);
        QVERIFY(m_window->isWindowModified());
        QVERIFY(document().saveProject(file("a.quantloupe")));
        QVERIFY(!m_window->isWindowModified());
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("a[*]")));
        QVERIFY(recentModels().contains(qpath("a.quantloupe")));
        const QuantizationConfig config = document().config();
        const std::string saved = readFile(file("a.quantloupe"));

        m_window = makeWindow();
        m_window->open({file("a.quantloupe"), {}, {}, {}});
        QVERIFY(waitUntilMeasured());
        QVERIFY(document().config() == config);
        QVERIFY(document().layer(node("Conv_0"))->state == LayerState::Skipped);
        // evaluated again, with a known result
        QCOMPARE(document().history().entries().size(), std::size_t(2));
        QCOMPARE(document().history().baseline(), document().history().entries()[0].version);
        QCOMPARE(document().selection(), std::vector{node("Relu_3")});
        QCOMPARE(m_window->layerTable()->filterLine()->text(), QStringLiteral("op:relu"));
        QVERIFY(m_window->graphView()->canvas()->metric() == Metric::Macs);
        QVERIFY(!m_window->isWindowModified());
        QVERIFY(m_window->messageBar()->kind() == MessageKind::Note);
        QVERIFY(document().saveProject(file("a.quantloupe")));
        QCOMPARE(readFile(file("a.quantloupe")), saved);
    }

    /// A project does not store layer results: those of its baseline are computed when idle.
    void layersOfTheBaselineAreEvaluatedAgain() {
        const auto values = [](const std::vector<LayerResult>& layers) {
            std::vector<double> all;
            for (const LayerResult& layer : layers)
                if (layer.cumulative) all.push_back(layer.cumulative->qs);
            return all;
        };
        const std::vector<double> first = values(document().layers());
        QVERIFY(!first.empty());
        toggle("Conv_0");
        document().pinBaseline(0);
        QVERIFY(document().reference().baselineLayer(NodeId(0)));
        QVERIFY(values(*document().reference().layers()) == first);
        QVERIFY(document().saveProject(file("a.quantloupe")));
        m_window = makeWindow();
        document().setBackgroundEvaluation(false);
        m_window->open({file("a.quantloupe"), {}, {}, {}});
        QVERIFY(waitUntilMeasured());
        QVERIFY(!document().reference().layers());
        QVERIFY(document().reference().whyNone().contains(QStringLiteral("being evaluated")));
        QVERIFY(QTest::qWaitFor([&] { return document().reference().layers() != nullptr; }, 20000));
        QVERIFY(values(*document().reference().layers()) == first);
        QVERIFY(values(document().layers()) != first);
        QCOMPARE(document().history().entries().size(), std::size_t(2));
        QVERIFY(document().undoStack()->isClean());
    }

    void goingBackIsOneUndoStep() {
        const QuantizationConfig first = document().config();
        toggle("Conv_0");
        toggle("Conv_2");
        const QuantizationConfig last = document().config();
        QCOMPARE(changes(), QStringLiteral("As opened, Skip Conv_0, Skip Conv_2"));
        QTableView* view = m_window->historyPanel()->view();
        QCOMPARE(view->model()->rowCount(), 3);  // the newest on top
        Q_EMIT view->clicked(view->model()->index(2, 0));
        QVERIFY(document().config() == first);
        QVERIFY(waitUntilMeasured());
        QCOMPARE(document().history().entries().size(), std::size_t(3));
        QVERIFY(document().undoStack()->undoText().contains(QStringLiteral("As opened")));
        document().undoStack()->undo();
        QVERIFY(document().config() == last);
        Q_EMIT view->clicked(view->model()->index(0, 0));  // the current configuration
        QCOMPARE(document().undoStack()->index(), 2);
    }

    void historyShowsTheDifferenceFromTheBaseline() {
        toggle("Conv_0");
        const QAbstractItemModel* model = m_window->historyPanel()->view()->model();
        QCOMPARE(model->headerData(HistoryModel::Difference, Qt::Horizontal).toString(),
                 QStringLiteral("vs. float"));
        document().pinBaseline(0);
        QVERIFY(
            model->headerData(HistoryModel::Difference, Qt::Horizontal).toString().contains(QChar(0x2691)));
        QCOMPARE(model->index(1, HistoryModel::Difference).data().toString(),
                 QStringLiteral("+") + formatDecibel(0));
        QVERIFY(model->index(1, HistoryModel::Change).data().toString().startsWith(QChar(0x2691)));
        document().pinBaseline(0);
        QVERIFY(document().history().baseline().empty());
    }

    void changedModelIsDetected() {
        document().edit(skipLayers(document().config(), {"Conv_2"}));
        QVERIFY(waitUntilMeasured());
        QVERIFY(document().saveProject(file("a.quantloupe")));
        // A Sigmoid after the first Relu: Conv_2 is Conv_3 now.
        QString changed = QString::fromLatin1(test::kChain);
        changed.replace(QStringLiteral("C = Conv(B, W)"), QStringLiteral("S = Sigmoid(B) C = Conv(S, W)"));
        test::writeModel(*m_folder, changed);
        m_window = makeWindow();
        m_window->open({file("a.quantloupe"), {}, {}, {}});
        QVERIFY(QTest::qWaitFor([this] { return document().hasModel(); }, 20000));
        const QString text = m_window->messageBar()->text();
        QVERIFY2(
            text.contains(QStringLiteral("The model changed")) && text.contains(QStringLiteral("Sigmoid_2")),
            qPrintable(text));
        QVERIFY(waitUntilMeasured());
        QVERIFY(document().layer(node("Conv_3"))->state == LayerState::Skipped);
        QVERIFY(document().history().entries().front().otherModel);
        QVERIFY(m_window->isWindowModified());
    }

    void aMovedModelIsFoundNextToTheProject() {
        fs::create_directory(file("other"));
        QVERIFY(document().saveProject(file("other/a.quantloupe")));
        fs::rename(file("chain.onnx"), file("other/chain.onnx"));
        m_window = makeWindow();
        m_window->open({file("other/a.quantloupe"), {}, {}, {}});
        QVERIFY(QTest::qWaitFor([this] { return document().hasModel(); }, 20000));
        QVERIFY(fs::equivalent(document().model()->path, file("other/chain.onnx")));
        QVERIFY(m_window->isWindowModified());  // the project still contains the old path
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("next to the project")),
                 qPrintable(m_window->messageBar()->text()));
    }

    void brokenProjectKeepsTheOpenModel() {
        for (const char* content : {"", "{\"quantloupe_project\": 1}", "{\"quantloupe_project\": 7}"}) {
            writeFileAtomically(file("bad.quantloupe"), content);
            m_window->openDropped(qpath("bad.quantloupe"));
            QVERIFY(m_window->messageBar()->kind() == MessageKind::Error);
            QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("bad.quantloupe")),
                     qPrintable(m_window->messageBar()->text()));
            QVERIFY(document().hasModel());
        }
        QVERIFY(document().saveProject(file("a.quantloupe")));
        fs::remove(file("chain.onnx"));
        m_window->openDropped(qpath("a.quantloupe"));
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("does not exist")),
                 qPrintable(m_window->messageBar()->text()));
    }

    void missingDataStaysInTheProject() {
        QVERIFY(document().saveProject(file("a.quantloupe")));
        fs::rename(file("data.npz"), file("elsewhere.npz"));
        m_window = makeWindow();
        QSignalSpy failed(&document(), &Document::failed);
        m_window->open({file("a.quantloupe"), {}, {}, {}});
        QVERIFY(failed.wait(20000));
        QVERIFY(document().hasModel());
        QCOMPARE(document().project().data, file("data.npz"));
    }

    void savedChangesHaveNoRecoveryCopy() {
        m_window->enableRecovery(recovery());
        m_window->findChild<Autosave*>()->setDelay(1);
        QSignalSpy written(m_window->findChild<Autosave*>(), &Autosave::written);
        QTest::qWait(50);
        QCOMPARE(written.count(), 0);  // nothing was changed
        toggle("Conv_0");
        QVERIFY(!written.empty() || written.wait(5000));
        QVERIFY(fs::exists(m_window->findChild<Autosave*>()->file()));
        QVERIFY(!findRecovery(recovery()));  // its owner is alive
        QVERIFY(document().saveProject(file("a.quantloupe")));
        QVERIFY(QTest::qWaitFor([this] { return copies() == 0; }, 5000));
        toggle("Conv_2");
        QVERIFY(QTest::qWaitFor([this] { return copies() == 1; }, 5000));
        m_window.reset();  // a normal exit
        QCOMPARE(copies(), 0);
    }

    void aCrashIsOfferedAndRecovered() {
        QVERIFY(document().saveProject(file("a.quantloupe")));
        const QuantizationConfig config = crash();
        m_window = makeWindow();
        m_window->enableRecovery(recovery());
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("a.quantloupe")),
                 qPrintable(m_window->messageBar()->text()));
        // Opening a model does not remove the offer.
        QVERIFY(test::openAndWait(document(), file("chain.onnx")));
        QVERIFY(m_window->messageBar()->acceptButton()->isVisible());
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(waitUntilMeasured());
        QVERIFY(document().config() == config);
        QCOMPARE(document().projectPath(), file("a.quantloupe"));
        QVERIFY(m_window->isWindowModified());
        QCOMPARE(copies(), 1);  // until it is saved
        QVERIFY(document().saveProject(document().projectPath()));
        QVERIFY(QTest::qWaitFor([this] { return copies() == 0; }, 5000));
    }

    void aCrashBeforeTheFirstSaveAsksForAName() {
        const QuantizationConfig config = crash();
        m_window = makeWindow();
        m_window->enableRecovery(recovery());
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("chain.onnx")));
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(waitUntilMeasured());
        QVERIFY(document().config() == config);
        QVERIFY(document().projectPath().empty());
    }

    void recoveryCopyCanBeDiscarded() {
        crash();
        m_window = makeWindow();
        m_window->enableRecovery(recovery());
        m_window->messageBar()->declineButton()->click();
        QVERIFY(!m_window->messageBar()->isVisible());
        QCOMPARE(copies(), 0);
        QVERIFY(!findRecovery(recovery()));
    }

    void aKilledProgramLeavesItsCopy() {
        QVERIFY(document().saveProject(file("a.quantloupe")));
        QString changed = QString::fromLatin1(test::kChain);
        changed.replace(QStringLiteral("D = Relu(C)"), QStringLiteral("D = Sigmoid(C)"));
        test::writeModel(*m_folder, changed);  // so that there is something to save at once
        m_window.reset();
        QProcess program;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_DATA_HOME"), qpath("home"));
        environment.insert(QStringLiteral("XDG_STATE_HOME"), qpath("home"));
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"), qpath("home"));
        program.setProcessEnvironment(environment);
        program.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe"), {qpath("a.quantloupe")});
        const fs::path folder = file("home") / "quantloupe" / "quantloupe" / "recovery";
        const auto written = [&folder] {
            std::error_code none;
            for (const auto& entry : fs::directory_iterator(folder, none))
                if (entry.path().extension() == kProjectSuffix) return true;
            return false;
        };
        QVERIFY(QTest::qWaitFor(written, 30000));
        QVERIFY(!findRecovery(folder));  // it runs
        program.kill();
        QVERIFY(program.waitForFinished());
        const auto left = findRecovery(folder);
        QVERIFY(left);
        QCOMPARE(left->project, file("a.quantloupe"));
    }

    void aFolderThatCannotBeWrittenIsReportedOnce() {
        writeFileAtomically(file("no folder"), "");
        m_window->enableRecovery(file("no folder") / "recovery");
        m_window->findChild<Autosave*>()->setDelay(1);
        QSignalSpy failed(m_window->findChild<Autosave*>(), &Autosave::failed);
        toggle("Conv_0");
        QVERIFY(!failed.empty() || failed.wait(5000));
        toggle("Conv_2");
        QTest::qWait(50);
        QCOMPARE(failed.count(), 1);
    }

  private:
    std::unique_ptr<MainWindow> makeWindow() const {
        auto window = std::make_unique<MainWindow>();
        window->setAskBeforeClosing(false);
        window->show();
        return window;
    }
    Document& document() { return *m_window->document(); }
    fs::path file(const char* name) const { return fs::path(m_folder->path().toStdString()) / name; }
    QString qpath(const char* name) const { return m_folder->filePath(QString::fromLatin1(name)); }
    fs::path recovery() const { return file("state") / "recovery"; }
    NodeId node(const char* name) { return *document().graph()->findNode(name); }

    bool waitUntilMeasured() {
        return QTest::qWaitFor(
            [this] {
                Document& d = document();
                return d.hasModel() && !d.job()->busy() && d.evaluation() && d.evaluation()->quantized &&
                       d.evaluation()->config == d.config();
            },
            20000);
    }
    void toggle(const char* name) {
        document().select(node(name));
        document().toggleSelection();
        QVERIFY(waitUntilMeasured());
    }
    QString changes() {
        QStringList list;
        for (const MeasuredConfig& entry : document().history().entries())
            list.append(QString::fromStdString(entry.change));
        return list.join(QStringLiteral(", "));
    }
    int copies() const {
        int count = 0;
        for (const auto& entry : fs::directory_iterator(recovery()))
            count += entry.path().extension() == ".quantloupe";
        return count;
    }
    /// Makes a change, waits for the recovery copy, and keeps it as if the program were killed.
    QuantizationConfig crash() {
        m_window->enableRecovery(recovery());
        m_window->findChild<Autosave*>()->setDelay(1);
        QSignalSpy written(m_window->findChild<Autosave*>(), &Autosave::written);
        toggle("Conv_0");
        toggle("Conv_2");
        const QuantizationConfig config = document().config();
        if (!QTest::qWaitFor(
                [&] {
                    return !written.empty() &&
                           loadProject(m_window->findChild<Autosave*>()->file()).config == config;
                },
                5000))
            return {};
        fs::copy(m_window->findChild<Autosave*>()->file(), recovery() / "left.quantloupe");
        m_window.reset();
        return config;
    }

    QTemporaryDir m_settings;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(ProjectTest)
#include "project_test.moc"
