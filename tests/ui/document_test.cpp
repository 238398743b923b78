// SPDX-License-Identifier: Apache-2.0
// Edits: the effect of each gesture on the configuration, undo, and immediate layer states.
#include <QTest>
#include <fstream>

#include "commands/config_edits.h"
#include "jobs/pending_work.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class DocumentTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() {
        m_document = std::make_unique<Document>();
        QVERIFY(test::openAndWait(*m_document, test::writeModel(m_folder)));
    }
    void cleanup() { m_document.reset(); }

    void spaceSkipsAndSpaceAgainQuantizes() {
        m_document->select(node("Conv_0"));
        QVERIFY(stateOf("Conv_0") == LayerState::Quantized);
        m_document->toggleSelection();
        // At once, before the engine answers.
        QVERIFY(stateOf("Conv_0") == LayerState::Skipped);
        QCOMPARE(m_document->config().rules.size(), 1u);
        QCOMPARE(m_document->config().rules[0].layers, std::vector<std::string>{"Conv_0"});
        m_document->toggleSelection();
        QVERIFY(stateOf("Conv_0") == LayerState::Quantized);
        QVERIFY(m_document->config().rules.empty());
    }

    void quantizingALayerOverridesTheTail() {
        QVERIFY(stateOf("Conv_4") == LayerState::Skipped);
        m_document->select(node("Conv_4"));
        m_document->toggleSelection();
        QVERIFY(stateOf("Conv_4") == LayerState::Quantized);
        QCOMPARE(m_document->config().layers.at("Conv_4").quantize, std::optional<bool>(true));
        m_document->toggleSelection();
        QVERIFY(stateOf("Conv_4") == LayerState::Skipped);
        QVERIFY(!m_document->config().layers.contains("Conv_4"));
    }

    void undoAndRedoRestoreTheWholeValue() {
        const QuantizationConfig before = m_document->config();
        m_document->edit(skipType(before, "Conv"));
        const QuantizationConfig after = m_document->config();
        QVERIFY(after != before);
        QCOMPARE(m_document->undoStack()->undoText(), QStringLiteral("Skip all Conv layers"));
        m_document->undoStack()->undo();
        QVERIFY(m_document->config() == before);
        QVERIFY(stateOf("Conv_0") == LayerState::Quantized);
        m_document->undoStack()->redo();
        QVERIFY(m_document->config() == after);
        QVERIFY(stateOf("Conv_0") == LayerState::Skipped);
    }

    void skipUntilFollowsTheDataFlow() {
        const Graph& graph = *m_document->graph();
        const ConfigEdit edit = skipUntil(graph, m_document->config(), node("Conv_2"), node("Conv_0"));
        QCOMPARE(edit.next.rules.back().from, std::string("Conv_0"));
        QCOMPARE(edit.next.rules.back().to, std::vector<std::string>{"Conv_2"});
        QVERIFY(m_document->edit(edit));
        QVERIFY(stateOf("Conv_0") == LayerState::Skipped);
        QVERIFY(stateOf("Conv_2") == LayerState::Skipped);
        // Repeating the same edit adds no step.
        const ConfigEdit again = skipUntil(graph, m_document->config(), node("Conv_0"), node("Conv_2"));
        QVERIFY(!again.complaint.isEmpty());
    }

    void weightBitsInQuickSuccessionAreOneStep() {
        for (const int bits : {7, 6, 5}) {
            ConfigEdit edit{
                m_document->config(), QStringLiteral("%1-bit weights").arg(bits), {}, kMergeWeightBits};
            edit.next.quantization.weight.bits = bits;
            m_document->edit(edit);
        }
        QCOMPARE(m_document->undoStack()->count(), 1);
        m_document->undoStack()->undo();
        QCOMPARE(m_document->config().quantization.weight.bits, 8);
    }

    void impossibleRuleIsRejectedAndChangesNothing() {
        QSignalSpy messages(m_document.get(), &Document::message);
        const QuantizationConfig before = m_document->config();
        ConfigEdit edit = skipPattern(before, "(");
        QVERIFY(!m_document->edit(edit));
        QCOMPARE(messages.count(), 1);
        QVERIFY(m_document->config() == before);
        QCOMPARE(m_document->undoStack()->count(), 0);
    }

    void commentIsKeptWithoutEvaluation() {
        QSignalSpy finished(m_document.get(), &Document::evaluationFinished);
        ConfigEdit edit{m_document->config(), QStringLiteral("Comment"), {}};
        edit.next.layers["Conv_0"].comment = "sensitive";
        QVERIFY(m_document->edit(edit));
        QVERIFY(!m_document->evaluating());
        QVERIFY(!finished.wait(100));
    }

    /// The comment is part of the reason why a layer is in float.
    void reasonContainsTheNewComment() {
        const auto comment = [this](const char* text) {
            ConfigEdit edit{m_document->config(), QStringLiteral("Comment"), {}};
            edit.next.layers["Conv_0"].quantize = false;
            edit.next.layers["Conv_0"].comment = text;
            QVERIFY(m_document->edit(edit));
        };
        comment("first");
        QSignalSpy finished(m_document.get(), &Document::evaluationFinished);
        QVERIFY(finished.wait(20000));
        comment("second");
        QVERIFY(!m_document->evaluating());
        QCOMPARE(m_document->layers()[0].reason, std::string("skipped by the layer's own setting: second"));
    }

    void configurationsSurviveSavingAndOpening() {
        m_document->edit(skipType(m_document->config(), "Conv"));
        const QuantizationConfig saved = m_document->config();
        const std::filesystem::path path = m_folder.filePath(QStringLiteral("tuned.json")).toStdString();
        QVERIFY(m_document->saveConfig(path));
        QVERIFY(m_document->undoStack()->isClean());
        m_document->undoStack()->undo();
        QVERIFY(m_document->openConfig(path));
        QVERIFY(m_document->config() == saved);
    }

    /// Otherwise saving would overwrite the second file with the settings of the first.
    void undoReturnsToTheFileThatWasOpen() {
        const auto file = [&](const char* name) {
            return std::filesystem::path(m_folder.filePath(QLatin1String(name)).toStdString());
        };
        QVERIFY(m_document->saveConfig(file("a.json")));
        m_document->edit(skipType(m_document->config(), "Conv"));
        QVERIFY(m_document->saveConfig(file("b.json")));
        QVERIFY(m_document->openConfig(file("a.json")));
        QCOMPARE(m_document->configPath(), file("a.json"));
        const int steps = m_document->undoStack()->index();
        m_document->undoStack()->undo();
        QCOMPARE(m_document->undoStack()->index(), steps - 1);
        QCOMPARE(m_document->config().rules.size(), 1u);
        QCOMPARE(m_document->configPath(), file("b.json"));
        m_document->undoStack()->redo();
        QVERIFY(m_document->config().rules.empty());
        QCOMPARE(m_document->configPath(), file("a.json"));
    }

    void onlyTheResultOfTheLastEditIsDelivered() {
        QSignalSpy finished(m_document.get(), &Document::evaluationFinished);
        for (int i = 0; i < 9; ++i) {
            m_document->select(node("Conv_0"));
            m_document->toggleSelection();
        }
        QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, 20000));
        QCOMPARE(finished.count(), 1);
        QVERIFY(m_document->evaluation()->config == m_document->config());
        QVERIFY(stateOf("Conv_0") == LayerState::Skipped);
    }

    /// Labels, notes and the like are saved in projects only.
    void savingTheConfigurationSavesNothingElse() {
        QVERIFY(idle());
        const std::filesystem::path config = m_folder.filePath(QStringLiteral("own.json")).toStdString();
        m_document->edit(skipType(m_document->config(), "Conv"));
        m_document->describeMeasured(0, QStringLiteral("before"), {});
        QVERIFY(m_document->saveConfig(config));
        QVERIFY(!m_document->undoStack()->isClean());
        QVERIFY(!m_document->configHasAllChanges());
        const std::filesystem::path project =
            m_folder.filePath(QStringLiteral("own.quantloupe")).toStdString();
        QVERIFY(m_document->saveProject(project));
        QVERIFY(m_document->undoStack()->isClean());
        // The project does not contain the configuration that was saved to its own file.
        m_document->undoStack()->undo();
        QVERIFY(m_document->saveConfig(config));
        QVERIFY(!m_document->undoStack()->isClean());
    }

    void dataThatOpensWhileAModelLoadsBelongsToThisModel() {
        m_document->open({test::writeModel(m_folder), {}, {}, {}});
        m_document->openData(test::writeChainSamples(m_folder), {});
        QVERIFY(QTest::qWaitFor([&] { return m_document->data().has_value(); }, 20000));
        QVERIFY(idle());
        QVERIFY(!m_document->evaluation()->randomInputs);
        TaskSettings labels;
        labels.labels = "labels.json";
        m_document->setTask(labels);  // the file does not exist
        QVERIFY(idle());
        QVERIFY(test::openAndWait(*m_document, test::writeModel(m_folder)));
        QVERIFY(m_document->task() == TaskSettings());
    }

    void aModelThatCannotBeLoadedDoesNotLoseData() {
        const auto model = test::writeModel(m_folder), samples = test::writeChainSamples(m_folder);
        const auto broken = m_folder.filePath(QStringLiteral("broken.onnx")).toStdString();
        std::ofstream(broken) << "no model";
        QSignalSpy loaded(m_document.get(), &Document::modelChanged);
        m_document->open({model, samples, {}, {}});
        QVERIFY(loaded.wait(20000));
        QVERIFY(!m_document->data());
        m_document->open({broken, {}, {}, {}});
        QVERIFY(QTest::qWaitFor([&] { return m_document->data().has_value(); }, 20000));
        QVERIFY(m_document->data()->evaluationPath == samples);
        QVERIFY(idle());
        QVERIFY(!m_document->evaluation()->randomInputs);
    }

    void numbersOfRandomInputsAreForgottenWhenDataOpens() {
        QVERIFY(idle());
        QVERIFY(m_document->evaluation()->randomInputs);
        m_document->pinBaseline(0);
        QVERIFY(!m_document->history().entries().empty());
        // All samples are NaN, so the evaluation fails.
        const QString file = m_folder.filePath(QStringLiteral("nan.npy"));
        QFile written(file);
        QVERIFY(written.open(QIODevice::WriteOnly));
        written.write(test::npyOfFloats("4, 2, 8, 8", std::vector<float>(4 * 2 * 8 * 8, NAN)));
        written.close();
        QSignalSpy failed(m_document.get(), &Document::failed);
        m_document->openData(file.toStdString(), {});
        QVERIFY(failed.wait(20000));
        QVERIFY(!m_document->evaluating());
        QVERIFY(!m_document->evaluation() || !m_document->evaluation()->quantized);
        QVERIFY(m_document->history().entries().empty());
        QVERIFY(m_document->history().baseline().empty());
        m_document->openData(test::writeChainSamples(m_folder), {});
        QVERIFY(QTest::qWaitFor([&] { return m_document->history().entries().size() == 1; }, 20000));
        QVERIFY(!m_document->evaluation()->randomInputs);

        // A project without its data is evaluated on random inputs, but its results on data stay.
        const std::string measured = m_document->history().entries().front().version;
        const std::filesystem::path project =
            m_folder.filePath(QStringLiteral("kept.quantloupe")).toStdString();
        QVERIFY(m_document->saveProject(project));
        std::filesystem::remove(m_folder.filePath(QStringLiteral("samples.npy")).toStdString());
        m_document = std::make_unique<Document>();
        m_document->open({project, {}, {}, {}});
        QVERIFY(QTest::qWaitFor([&] { return m_document->history().entries().size() == 2; }, 20000));
        QVERIFY(m_document->evaluation()->randomInputs);
        m_document->openData(test::writeChainSamples(m_folder), {});
        QVERIFY(
            QTest::qWaitFor([&] { return !m_document->evaluating() && !m_document->job()->busy(); }, 20000));
        QCOMPARE(m_document->history().entries().size(), std::size_t(1));
        QCOMPARE(m_document->history().entries().front().version, measured);
    }

    /// An accuracy that was final is kept although an edit cancels the metrics of the layers.
    void accuraciesOfCancelledEvaluationsAreRemembered() {
        QVERIFY(idle());
        const std::size_t before = m_document->history().entries().size();
        const QuantizationConfig edited = skipType(m_document->config(), "Conv").next;
        connect(m_document.get(), &Document::evaluationChanged, m_document.get(), [&] {
            const EvaluationPtr now = m_document->evaluation();
            if (now && now->config == edited && !now->rough && m_document->config() == edited &&
                !m_document->accuracyStale())
                m_document->undoStack()->undo();
        });
        m_document->edit(skipType(m_document->config(), "Conv"));
        QVERIFY(QTest::qWaitFor([&] { return m_document->config() != edited; }, 20000));
        QVERIFY(idle());
        QCOMPARE(m_document->history().entries().size(), before + 1);
        QVERIFY(m_document->history().findConfig(edited));
    }

    void editsDuringAReloadStay() {
        QSignalSpy reloaded(m_document.get(), &Document::modelChanged);
        m_document->reload();
        m_document->edit(skipType(m_document->config(), "Conv"));
        const QuantizationConfig edited = m_document->config();
        QVERIFY(reloaded.wait(20000));
        QVERIFY(m_document->config() == edited);
        QVERIFY(!m_document->undoStack()->isClean());
    }

    void otherDataIsAnUnsavedChangeOfAProject() {
        const auto open = [&](const std::filesystem::path& data) {
            QSignalSpy opened(m_document.get(), &Document::dataChanged);
            m_document->openData(data);
            return opened.wait(20000) && idle();
        };
        const auto data = test::writeChainSamples(m_folder),
                   other = test::writeChainSamples(m_folder, QStringLiteral("other.npy"));
        QVERIFY(open(data));
        QVERIFY(m_document->undoStack()->isClean());
        const std::filesystem::path project =
            m_folder.filePath(QStringLiteral("data.quantloupe")).toStdString();
        QVERIFY(m_document->saveProject(project));
        QVERIFY(open(data));
        QVERIFY(m_document->undoStack()->isClean());
        QVERIFY(open(other));
        QVERIFY(!m_document->undoStack()->isClean());
        QVERIFY(m_document->saveProject(project));
        QVERIFY(m_document->undoStack()->isClean());
        QVERIFY(test::openAndWait(*m_document, project));
        QVERIFY(m_document->undoStack()->isClean());
        QVERIFY(m_document->data()->evaluationPath == other);
    }

    /// Neither work in the background nor results that arrive late hide that edits are not evaluated.
    void manualEditsAreNotEvaluatedInTheBackground() {
        QVERIFY(idle());
        m_document->setBackgroundEvaluation(true);
        m_document->setManualEvaluation(true);
        const EvaluationPtr before = m_document->evaluation();
        m_document->edit(skipType(m_document->config(), "Conv"));
        m_document->job()->query(QuerySlot::Ranges, [](Session&, const CancelToken&) { return [] {}; });
        QTRY_VERIFY_WITH_TIMEOUT(!workPending(), 20000);
        QVERIFY(m_document->accuracyStale());
        QCOMPARE(m_document->pendingEdits(), 1);
        QVERIFY(m_document->evaluation() == before);
        QVERIFY(stateOf("Conv_0") == LayerState::Skipped);
        Q_EMIT m_document->job()->evaluated(before, withNumbersOf(nullptr, before));
        QVERIFY(m_document->accuracyStale());
        QVERIFY(stateOf("Conv_0") == LayerState::Skipped);
    }

  private:
    bool idle() {
        return QTest::qWaitFor([&] { return !m_document->evaluating() && !m_document->job()->busy(); },
                               20000);
    }
    NodeId node(const char* name) const { return *m_document->graph()->findNode(name); }
    LayerState stateOf(const char* name) const { return m_document->layer(node(name))->state; }

    QTemporaryDir m_folder;
    std::unique_ptr<Document> m_document;
};

QTEST_MAIN(DocumentTest)
#include "document_test.moc"
