// SPDX-License-Identifier: Apache-2.0
// Files that change on disk while the window shows them: the model, and what belongs to it.
#include "document/file_watch.h"

#include <QApplication>

#include "chain_window.h"
#include "commands/layer_edits.h"
#include "support/npy.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class FileWatchTest : public QObject, private test::ChainWindow {
    Q_OBJECT
  private Q_SLOTS:
    void init() { QVERIFY(openChain()); }
    void cleanup() { m_window.reset(); }

    void reloadOfAChangedFileKeepsTheTuning() {
        Document& document = *m_window->document();
        m_window->findChild<FileWatch*>()->setRest(30);
        document.edit(skipType(document.config(), "Relu"));
        ConfigEdit two{document.config(), QStringLiteral("skip"), {}};
        SkipRule rule;
        rule.layers = {"Conv_2"};
        two.next.rules.push_back(rule);
        QVERIFY(document.edit(two));
        QVERIFY(QTest::qWaitFor([&] { return !document.evaluating(); }, 20000));
        document.select(*document.graph()->findNode("Conv_2"));
        const auto measured = document.history().entries().size();
        QVERIFY(measured >= 1);

        // Replaces the model by renaming a file, as programs do: one weight is different, and there is one
        // more layer at the end.
        QString text = QString::fromLatin1(test::kChain);
        text.replace("V = {1, 0.5, -1, 0.25}", "V = {1, 0.5, -1, 0.75}")
            .replace("Y = Relu(E)", "F = Relu(E)\n  Y = Neg(F)");
        test::writeModel(m_folder, text, "new.onnx");
        std::filesystem::rename(m_folder.filePath("new.onnx").toStdString(), m_path);
        QVERIFY(offered());
        QVERIFY2(m_window->messageBar()->text().contains("chain.onnx has changed on disk"),
                 qPrintable(m_window->messageBar()->text()));
        const LoadedModel* const before = document.model();
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(QTest::qWaitFor(
            [&] { return document.model() != before && !document.evaluating() && document.evaluation(); },
            20000));

        QCOMPARE(document.graph()->nodeCount(), std::size_t(7));
        QCOMPARE(document.config().rules.size(), std::size_t(2));
        QCOMPARE(document.config().rules.back().layers, std::vector<std::string>{"Conv_2"});
        QCOMPARE(document.graph()->node(document.current()).name, std::string("Conv_2"));
        QVERIFY(document.history().entries().size() >= measured);
        QVERIFY(document.history().entries().front().otherModel);
        QVERIFY(!document.undoStack()->isClean());
        QVERIFY2(m_window->messageBar()->text().contains("reloaded"),
                 qPrintable(m_window->messageBar()->text()));
    }

    /// An unused layer at the beginning changes the generated names of all others. Nothing is lost.
    void theSelectionFollowsRenamedLayers() {
        Document& document = *m_window->document();
        document.select(*document.graph()->findNode("Conv_2"));
        m_window->findChild<FileWatch*>()->setRest(30);
        QString text = QString::fromLatin1(test::kChain);
        test::writeModel(m_folder, text.replace("A = Conv(X, V)", "K = Neg(V)\n  A = Conv(X, V)"),
                         "new.onnx");
        std::filesystem::rename(m_folder.filePath("new.onnx").toStdString(), m_path);
        QVERIFY(offered());
        const LoadedModel* const before = document.model();
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(QTest::qWaitFor([&] { return document.model() != before; }, 20000));
        QVERIFY(document.current().valid());
        QCOMPARE(document.graph()->node(document.current()).name, std::string("Conv_3"));
        QCOMPARE(m_window->messageBar()->kind(), MessageKind::Note);
    }

    void brokenFileChangesNothing() {
        Document& document = *m_window->document();
        document.edit(skipType(document.config(), "Relu"));
        m_window->findChild<FileWatch*>()->setRest(30);
        const LoadedModel* const before = document.model();
        QVERIFY(write(QStringLiteral("chain.onnx"), "half a model"));
        QVERIFY(offered());
        QSignalSpy failed(&document, &Document::failed);
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(QTest::qWaitFor([&] { return !failed.empty(); }, 10000));
        QCOMPARE(m_window->messageBar()->kind(), MessageKind::Error);
        QCOMPARE(document.model(), before);
        QCOMPARE(document.config().rules.size(), std::size_t(1));
        // The next valid file is offered again.
        test::writeModel(m_folder);
        QVERIFY(offered());
    }

    void filesThatBelongToTheModelAreWatchedToo() {
        m_window->findChild<FileWatch*>()->setRest(30);
        // One that was not there when the model was opened.
        const QString beside = QFileInfo(QString::fromStdString(m_path.string())).completeBaseName() +
                               QStringLiteral(".preprocess.json");
        QVERIFY(write(beside, R"({"scale": 1})"));
        QVERIFY(offered());
        QVERIFY2(m_window->messageBar()->text().contains(beside), qPrintable(m_window->messageBar()->text()));
        QFile::remove(m_folder.filePath(beside));
        m_window->messageBar()->dismiss();

        // Weights in an external file: Y = X + W.
        std::array<float, 2> weights = {1, 2};
        const auto bytes = [&] {
            return QByteArray(reinterpret_cast<const char*>(weights.data()), sizeof weights);
        };
        QVERIFY(write(QStringLiteral("weights.bin"), bytes()));
        QVERIFY(write(QStringLiteral("outside.onnx"),
                      QByteArray::fromStdString(test::externalModelBytes("weights.bin"))));
        Document& document = *m_window->document();
        QVERIFY(test::openAndWait(document, m_folder.filePath(QStringLiteral("outside.onnx")).toStdString()));
        const auto weight = [&] {
            return document.graph()->tensor(*document.graph()->findTensor("W")).constant->floats()[1];
        };
        QCOMPARE(weight(), 2.0f);
        weights[1] = 5;
        QTest::qWait(20);  // another time stamp: the size is the same
        QVERIFY(write(QStringLiteral("weights.bin"), bytes()));
        QVERIFY(offered());
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("weights.bin")),
                 qPrintable(m_window->messageBar()->text()));
        const LoadedModel* const before = document.model();
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(QTest::qWaitFor([&] { return document.model() != before && !document.evaluating(); }, 20000));
        QCOMPARE(weight(), 5.0f);
    }

    void messageDisappearsWhenDataIsOpened() {
        Document& document = *m_window->document();
        document.openData(m_folder.filePath(QStringLiteral("nothing")).toStdString());
        QVERIFY(QTest::qWaitFor(
            [&] {
                return m_window->messageBar()->isVisible() &&
                       m_window->messageBar()->kind() == MessageKind::Error;
            },
            10000));
        QVERIFY(write(QStringLiteral("ones.npy"),
                      test::npyOfFloats("2, 2, 8, 8", std::vector<float>(2 * 2 * 8 * 8, 1.0f))));
        document.openData(m_folder.filePath(QStringLiteral("ones.npy")).toStdString());
        QVERIFY(QTest::qWaitFor([&] { return document.data().has_value(); }, 10000));
        QVERIFY2(!m_window->messageBar()->isVisible(), qPrintable(m_window->messageBar()->text()));
    }

    void otherFilesInTheFolderAreIgnored() {
        m_window->findChild<FileWatch*>()->setRest(30);
        QSignalSpy changed(m_window->findChild<FileWatch*>(), &FileWatch::changed);
        test::writeModel(m_folder, QString::fromLatin1(test::kChain), "beside.onnx");
        QTest::qWait(300);
        QCOMPARE(changed.size(), 0);
    }

  private:
    /// Waits until the window offers to reload.
    bool offered() const {
        return QTest::qWaitFor([&] { return m_window->messageBar()->acceptButton()->isVisible(); }, 10000);
    }
    bool write(const QString& name, const QByteArray& bytes) const {
        QFile file(m_folder.filePath(name));
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
    }
};

QTEST_MAIN(FileWatchTest)
#include "file_watch_test.moc"
