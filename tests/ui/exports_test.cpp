// SPDX-License-Identifier: Apache-2.0
// The user story through the window's document: open the demo, skip, undo, equalize, save, export everything.
#include <QClipboard>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "dialogs/export_dialog.h"
#include "document/demo.h"
#include "document/document.h"
#include "document/output_folder.h"
#include "interchange/file_format.h"
#include "support/demo.h"
#include "support/text_model.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class ExportsTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    Document m_document;
    std::filesystem::path file(const char* name) const { return m_folder.path().toStdString() + "/" + name; }

    bool waitForEvaluation() {
        QSignalSpy finished(&m_document, &Document::evaluationFinished);
        return finished.wait(1800000);  // long under a sanitizer
    }
    bool exportTo(ExportKind kind, const std::filesystem::path& path, const std::string& format = {}) {
        QSignalSpy exported(m_document.job(), &EvaluationJob::exported);
        startExport(m_document, exportInfo(kind, format), path);
        return exported.wait(600000) && std::filesystem::exists(path);
    }

  private Q_SLOTS:
    void initTestCase() {
        test::keepSettingsIn(m_folder);
        auto demo = findDemo(std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources");
        QVERIFY(demo);
        m_document.open(*demo);
        QVERIFY(waitForEvaluation());
        QVERIFY(m_document.evaluation()->quantized->top1);
        QVERIFY(m_document.configPath().empty());  // saving must not write into the demo
    }

    void skipRecolorsImmediatelyAndUndoRestoresTheResult() {
        const double before = *m_document.evaluation()->quantized->top1;
        const NodeId first = *m_document.graph()->findNode("/features/features.0/features.0.0/Conv");
        m_document.select(first);
        m_document.toggleSelection();
        QVERIFY(m_document.layer(first)->state == LayerState::Skipped);  // before the engine has answered
        QVERIFY(waitForEvaluation());
        QVERIFY(*m_document.evaluation()->quantized->top1 > before + 0.05);
        m_document.undoStack()->undo();
        QVERIFY(m_document.layer(first)->state == LayerState::Quantized);
        QVERIFY(waitForEvaluation());
        QCOMPARE(*m_document.evaluation()->quantized->top1, before);
    }

    void everyExportWritesItsFormat() {
        QVERIFY(exportTo(ExportKind::FileFormat, file("amct.json"), "amct"));
        const auto amct = nlohmann::json::parse(readFile(file("amct.json")));
        QCOMPARE(amct["version"], 1);
        QVERIFY(amct["/features/features.0/features.0.0/Conv"]["quant_enable"] == true);

        QVERIFY(exportTo(ExportKind::QuantizedModel, file("quantized.onnx")));
        const auto quantized = loadModel(file("quantized.onnx")).graph;
        const auto count = std::count_if(quantized->nodes().begin(), quantized->nodes().end(),
                                         [](const Node& node) { return node.op == "QuantizeLinear"; });
        QCOMPARE(count, 66);  // as many activations as ONNX Runtime's own quantizer finds

        QVERIFY(exportTo(ExportKind::EqualizedModel, file("float.onnx")));
        QCOMPARE(loadModel(file("float.onnx")).graph->nodeCount(), 100u);  // without the 52 batch norms

        QVERIFY(exportTo(ExportKind::Svg, file("graph.svg")));
        QXmlStreamReader xml(QByteArray::fromStdString(readFile(file("graph.svg"))));
        while (!xml.atEnd()) xml.readNext();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));

        QVERIFY(exportTo(ExportKind::Dot, file("graph.dot")));
        QVERIFY(readFile(file("graph.dot")).starts_with("digraph"));
    }

    void dialogListsUnsupportedSettingsBeforeWriting() {
        ExportDialog dialog(m_document, exportInfo(ExportKind::FileFormat, "quark"), file("net.quark.py"));
        QVERIFY(test::labelText(dialog, "limits").contains("rules become single layers"));
        QVERIFY(!test::button(dialog, "save")->isEnabled());
        QSignalSpy exported(m_document.job(), &EvaluationJob::exported);
        QVERIFY(exported.wait(600000));
        QVERIFY(test::button(dialog, "save")->isEnabled());
        QVERIFY(test::labelText(dialog, "notices")
                    .contains("weights of 4 bits are not supported by Quark's QuantType"));
        QVERIFY(test::child<QPlainTextEdit>(dialog)->toPlainText().contains("include_cle="));
        QVERIFY(!std::filesystem::exists(file("net.quark.py")));
        test::button(dialog, "copy")->click();
        QCOMPARE(QGuiApplication::clipboard()->text(), test::child<QPlainTextEdit>(dialog)->toPlainText());
    }

    void changesOfAnExportCanBePreviewed() {
        const QuantizationConfig before = m_document.config();
        const auto opened = [&] {
            auto dialog = std::make_unique<ExportDialog>(
                m_document, exportInfo(ExportKind::FileFormat, "amct"), file("net.json"));
            const auto ready = [&] { return test::button(*dialog, "save")->isEnabled(); };
            return QTest::qWaitFor(ready, 600000) ? std::move(dialog) : nullptr;
        };
        auto dialog = opened();
        QVERIFY(dialog);
        QVERIFY2(
            test::labelText(*dialog, "changes").contains(QStringLiteral("weight method: min max \u2192 arq")),
            qPrintable(test::labelText(*dialog, "changes")));
        test::button(*dialog, "apply")->click();
        QVERIFY(m_document.config().quantization.weight.method == WeightMethod::Arq);
        QCOMPARE(m_document.config().rules.size(), before.rules.size());  // the same layers are in float
        dialog = opened();
        QVERIFY(dialog);
        QVERIFY2(test::button(*dialog, "apply")->isHidden(), qPrintable(test::labelText(*dialog, "changes")));
        m_document.edit({before, QStringLiteral("As before"), {}});
    }

    /// Whatever keeps layers in float here, an export that keeps the same layers in float changes nothing
    /// about it.
    void reasonsForFloatAreNoChanges() {
        const QuantizationConfig before = m_document.config();
        QuantizationConfig config = before;
        config.skipTail = config.wholeTail = true;
        config.layers[m_document.layers()[0].name].precision = Precision::float32();
        PrecisionRule rule;
        rule.covers.layers = {m_document.layers()[3].name};
        config.precisionRules = {rule};
        m_document.edit({config, QStringLiteral("Many reasons"), {}});
        ExportDialog dialog(m_document, exportInfo(ExportKind::FileFormat, "amct"), file("net.json"));
        QVERIFY(QTest::qWaitFor([&] { return test::button(dialog, "save")->isEnabled(); }, 600000));
        for (const char* word : {"tail", "rule", "always"})
            QVERIFY2(!test::labelText(dialog, "changes").contains(QLatin1String(word)),
                     qPrintable(test::labelText(dialog, "changes")));
        test::button(dialog, "apply")->click();
        QVERIFY(m_document.config().wholeTail);
        QVERIFY(m_document.config().precisionRules == config.precisionRules);

        config.layers[m_document.layers()[0].name].precision = Precision::float16();  // AMCT has no float16
        m_document.edit({config, QStringLiteral("Half"), {}});
        ExportDialog half(m_document, exportInfo(ExportKind::FileFormat, "amct"), file("net.json"));
        QVERIFY(QTest::qWaitFor([&] { return test::button(half, "save")->isEnabled(); }, 600000));
        test::button(half, "apply")->click();
        const LayerSettings* const own = m_document.config().settingsOf(m_document.layers()[0].name);
        QVERIFY(own == nullptr || own->precision != Precision::float16());
        m_document.edit({before, QStringLiteral("As before"), {}});
    }

    /// The exported float model contains the transforms, although the script does not.
    void transformsOfTheExportedModelAreNoChanges() {
        const QuantizationConfig before = m_document.config();
        QuantizationConfig config = before;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        m_document.edit({config, QStringLiteral("Equalized"), {}});
        ExportDialog dialog(m_document, exportInfo(ExportKind::FileFormat, "quark"), file("net.py"));
        QVERIFY(QTest::qWaitFor([&] { return test::button(dialog, "save")->isEnabled(); }, 600000));
        for (const char* word : {"equalization", "relu6"})
            QVERIFY2(!test::labelText(dialog, "changes").contains(QLatin1String(word)),
                     qPrintable(test::labelText(dialog, "changes")));
        if (!test::button(dialog, "apply")->isHidden()) test::button(dialog, "apply")->click();
        QVERIFY(m_document.config().transforms == config.transforms);
        m_document.edit({before, QStringLiteral("As before"), {}});
    }

    /// The tools get the float biases, and round to the nearest code unless the file says otherwise.
    void refinementsOfThePreviewAreChanges() {
        const QuantizationConfig before = m_document.config();
        QuantizationConfig config = before;
        config.refine.biasCorrection = BiasCorrection::Analytic;
        m_document.edit({config, QStringLiteral("Corrected"), {}});
        for (const char* format : {"amct", "quark", "clika", "aimet", "onnxruntime"}) {
            ExportDialog dialog(m_document, exportInfo(ExportKind::FileFormat, format), file("net.json"));
            QVERIFY(QTest::qWaitFor([&] { return test::button(dialog, "save")->isEnabled(); }, 600000));
            QVERIFY2(test::labelText(dialog, "changes").contains(QLatin1String("bias correction")), format);
        }
        m_document.edit({before, QStringLiteral("As before"), {}});
    }

    /// Closing the dialog ends the work on the preview.
    void closedPreviewIsCancelled() {
        const auto exports = [&] {
            return std::ranges::count(m_document.job()->queue(), QueuedWork::Kind::Export, &QueuedWork::kind);
        };
        {
            ExportDialog dialog(m_document, exportInfo(ExportKind::FileFormat, "aimet"), file("net.json"));
            QCOMPARE(exports(), 1);
        }
        QCOMPARE(exports(), 0);
    }

    /// A configuration that the tool gets is exported as it is.
    void exportedConfigurationIsExportedUnchanged() {
        const QuantizationConfig before = m_document.config();
        for (const FileFormat& format : fileFormats()) {
            if (format.write == nullptr || format.read == nullptr || format.name == "qdq") continue;
            m_document.edit({before, QStringLiteral("As before"), {}});
            for (int round = 0; round < 2; ++round) {
                ExportDialog dialog(m_document, exportInfo(ExportKind::FileFormat, format.name),
                                    file("net.json"));
                QVERIFY2(QTest::qWaitFor([&] { return test::button(dialog, "save")->isEnabled(); }, 600000),
                         format.name.c_str());
                if (round == 0 && !test::button(dialog, "apply")->isHidden())
                    test::button(dialog, "apply")->click();
                else
                    QVERIFY2(test::button(dialog, "apply")->isHidden(),
                             qPrintable(QString::fromStdString(format.name) + QLatin1Char('\n') +
                                        test::labelText(dialog, "changes")));
            }
        }
        m_document.edit({before, QStringLiteral("As before"), {}});
    }

    void lastOutputFolderIsProposed() {
        namespace fs = std::filesystem;
        const fs::path demo = m_document.model()->path, own = file("own.onnx"),
                       other = m_folder.path().toStdString() + "/elsewhere";
        fs::create_directories(other);
        QVERIFY(isDemo(demo));
        QVERIFY(outputFolder(demo) != demo.parent_path());
        QCOMPARE(outputFolder(own), own.parent_path());
        rememberOutputFolder(own, other);
        QCOMPARE(proposedOutput(own, ".amct.json"), other / "own.amct.json");
        QVERIFY(outputFolder(demo) != other);  // it was remembered for that model only
        fs::remove_all(other);
        QCOMPARE(outputFolder(own), own.parent_path());
    }

    void everyFormatIsInTheList() {
        for (const FileFormat& format : fileFormats())
            if (format.write != nullptr && format.name != "qdq")
                QCOMPARE(exportInfo(ExportKind::FileFormat, format.name).suffix, format.ending);
    }

    void savedFilesDoNotOverwriteOpenedFiles() {
        const std::string bytes = test::textModelBytes(
            "<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2] x) => (float[N,2] y) { y = Relu(x) "
            "}");
        writeFileAtomically(file("small.onnx"), bytes);
        std::filesystem::create_symlink(file("small.onnx"), file("link.onnx"));
        Document document;
        QSignalSpy evaluated(&document, &Document::evaluationFinished);
        document.open({file("small.onnx"), {}, {}, {}});
        QVERIFY(evaluated.wait(60000));
        QSignalSpy said(&document, &Document::message);
        for (const char* name : {"small.onnx", "link.onnx"}) {
            QVERIFY(!document.saveConfig(file(name)));
            QVERIFY(!document.saveProject(file(name)));
            QCOMPARE(said.size(), 2);
            for (const auto& message : said)
                QVERIFY(message.at(1).toString().contains("would be overwritten"));
            said.clear();
            for (const ExportKind kind : {ExportKind::Dot, ExportKind::EqualizedModel, ExportKind::Pdf}) {
                QSignalSpy failed(&document, &Document::failed);
                startExport(document, exportInfo(kind), file(name));
                QVERIFY(failed.wait(60000));
                QVERIFY(failed.at(0).at(0).value<Failure>().text.contains("would be overwritten"));
            }
            said.clear();
        }
        QCOMPARE(readFile(file("small.onnx")), bytes);
    }

    /// The user was asked about the main file only.
    void companionsAreNotReplaced() {
        QDir(m_folder.path()).mkdir("companions");
        const auto main = file("companions/net.encodings"), model = file("companions/net.float.onnx");
        writeFileAtomically(model, "mine");
        QSignalSpy failed(&m_document, &Document::failed);
        startExport(m_document, exportInfo(ExportKind::FileFormat, "aimet"), main);
        QVERIFY(failed.wait(600000));
        const QString text = failed.at(0).at(0).value<Failure>().text;
        QVERIFY2(text.contains("net.float.onnx', which belongs to this export, exists already"),
                 qPrintable(text));
        QCOMPARE(readFile(model), std::string("mine"));
        QVERIFY(!std::filesystem::exists(main));
        std::filesystem::remove(model);
        QSignalSpy exported(m_document.job(), &EvaluationJob::exported);
        QVERIFY(exportTo(ExportKind::FileFormat, main, "aimet"));
        const QString said = exported.at(0).at(0).toString();
        QVERIFY2(said.contains("in the same folder, ") && said.contains("net.float.onnx"), qPrintable(said));
        QVERIFY(
            exportTo(ExportKind::FileFormat, main, "aimet"));  // all files of the first export are replaced
    }

    void writeErrorsAreReported() {
        QSignalSpy failed(&m_document, &Document::failed);
        startExport(m_document, exportInfo(ExportKind::Dot), file("no/such/folder.dot"));
        QVERIFY(failed.wait(60000));
        QVERIFY(failed.at(0).at(0).value<Failure>().text.contains("cannot be written"));
    }

    void configurationsSaveAndOpen() {
        const QuantizationConfig config = m_document.config();
        QVERIFY(m_document.saveConfig(file("config.json")));
        QVERIFY(loadConfig(file("config.json")) == config);
    }
};

QTEST_MAIN(ExportsTest)
#include "exports_test.moc"
