// SPDX-License-Identifier: Apache-2.0
// The whole window: opening valid, invalid and partly valid files; panels, table and graph stay in sync.
#include "window/main_window.h"

#include <QCursor>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QSettings>
#include <QTabBar>
#include <QTest>
#include <QToolButton>

#include "document/recent_files.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class MainWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() {
        m_window = std::make_unique<MainWindow>();
        m_window->setAskBeforeClosing(false);
        m_window->show();
    }
    void cleanup() { m_window.reset(); }

    void aModelWithoutDataShowsItsStates() {
        const auto path = test::writeModel(m_folder);
        QVERIFY(test::openAndWait(*m_window->document(), path));
        QCOMPARE(m_window->layerTable()->filter()->rowCount(), 3);  // the others cannot be quantized
        QVERIFY(m_window->document()->layer(NodeId(0))->state == LayerState::Quantized);
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("chain")));
        QVERIFY(recentModels().contains(QString::fromStdString(path.string())));
        QVERIFY(
            QTest::qWaitFor([&] { return m_window->graphView()->canvas()->picture() != nullptr; }, 20000));
        QCOMPARE(m_window->graphView()->canvas()->picture()->nodes.size(),
                 8u);  // six layers, an input, an output
    }

    void aBadFileIsExplainedInTheWindow() {
        const QString path = m_folder.filePath(QStringLiteral("broken.onnx"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("this is no model");
        file.close();
        QSignalSpy failed(m_window->document(), &Document::failed);
        m_window->open({path.toStdString(), {}, {}, {}});
        QVERIFY(failed.wait(20000));
        QVERIFY(m_window->messageBar()->isVisible());
        QVERIFY(m_window->messageBar()->kind() == MessageKind::Error);
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("broken.onnx")),
                 qPrintable(m_window->messageBar()->text()));
        QVERIFY(!m_window->document()->hasModel());
        m_window->messageBar()->dismiss();
        QVERIFY(!m_window->messageBar()->isVisible());
    }

    void invalidFileKeepsTheOpenModel() {
        QVERIFY(test::openAndWait(*m_window->document(), test::writeModel(m_folder)));
        QSignalSpy failed(m_window->document(), &Document::failed);
        m_window->open({m_folder.filePath(QStringLiteral("missing.onnx")).toStdString(), {}, {}, {}});
        QVERIFY(failed.wait(20000));
        QVERIFY(m_window->document()->hasModel());
        m_window->document()->select(NodeId(0));
        m_window->document()->toggleSelection();
        QVERIFY(QTest::qWaitFor([&] { return !m_window->document()->job()->busy(); }, 20000));
        QVERIFY(m_window->document()->layer(NodeId(0))->state == LayerState::Skipped);
    }

    /// Also one that the message bar shortens.
    void openingDataDismissesTheErrorOfTheData() {
        Document& document = *m_window->document();
        QVERIFY(test::openAndWait(document, test::writeModel(m_folder)));
        QSignalSpy failed(&document, &Document::failed);
        document.openData(m_folder.filePath(QString(220, QLatin1Char('x'))).toStdString(), {});
        QVERIFY(failed.wait(20000));
        QVERIFY(m_window->messageBar()->isVisible());
        QVERIFY(m_window->messageBar()->text().contains(QChar(0x2026)));
        document.openData(test::writeChainSamples(m_folder), {});
        QTRY_VERIFY_WITH_TIMEOUT(document.data().has_value(), 20000);
        QVERIFY(!m_window->messageBar()->isVisible());
    }

    void unknownOperatorIsShown() {
        const QString text = QStringLiteral(
            "<ir_version: 8, opset_import: [\"\" : 13, \"my.domain\" : 1]> g (float[N,4] X) => (float[N,4] "
            "Y) { A = Relu(X) Y = my.domain.Warp(A) }");
        const auto path = test::writeModel(m_folder, text, QStringLiteral("warp.onnx"));
        m_window->open({path, {}, {}, {}});
        QVERIFY(
            QTest::qWaitFor([&] { return m_window->graphView()->canvas()->picture() != nullptr; }, 20000));
        QCOMPARE(m_window->document()->graph()->nodeCount(), 2u);
        QVERIFY(QTest::qWaitFor([&] { return !m_window->document()->job()->busy(); }, 20000));
        QCOMPARE(m_window->layerTable()->filter()->rowCount(), 2);
    }

    void theTableAndTheGraphShareTheSelection() {
        QVERIFY(test::openAndWait(*m_window->document(), test::writeModel(m_folder)));
        const LayerTable* table = m_window->layerTable();
        const auto layerOf = [&](int row) {
            return NodeId(
                static_cast<std::size_t>(table->filter()->mapToSource(table->filter()->index(row, 0)).row()));
        };
        table->view()->selectRow(2);
        QCOMPARE(m_window->document()->selection(), std::vector{layerOf(2)});
        m_window->document()->select(layerOf(1));
        const auto rows = table->view()->selectionModel()->selectedRows();
        QCOMPARE(rows.size(), 1);
        QCOMPARE(rows[0].row(), 1);
    }

    void allTabsAreVisibleInASmallWindow() {
        m_window->resize(1280, 720);
        QVERIFY(test::openAndWait(*m_window->document(), test::writeModel(m_folder)));
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        QCoreApplication::processEvents();
        const auto* tabs = m_window->workTabs()->findChild<QTabBar*>();
        QVERIFY(tabs);
        QVERIFY2(
            tabs->tabRect(tabs->count() - 1).right() <= tabs->width(),
            qPrintable(
                QStringLiteral("%1 of %2").arg(tabs->tabRect(tabs->count() - 1).right()).arg(tabs->width())));
        for (const QToolButton* arrow : tabs->findChildren<QToolButton*>()) QVERIFY(!arrow->isVisible());
        const QLineEdit* filter = m_window->layerTable()->filterLine();
        QVERIFY(filter->mapTo(m_window.get(), QPoint()).x() >=
                tabs->mapTo(m_window.get(), QPoint(tabs->width(), 0)).x());
        // With the history open there is even less room: nothing overlaps.
        m_window->historyPanel()->parentWidget()->show();
        QTest::qWait(50);
        const QWidget* head = filter->parentWidget();
        const auto parts = head->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
        for (const QWidget* one : parts)
            for (const QWidget* other : parts)
                QVERIFY2(one == other || one->isHidden() || other->isHidden() ||
                             !one->geometry().intersects(other->geometry()),
                         qPrintable(one->accessibleName() + one->metaObject()->className()));
    }

    void bothThemesPaint() {
        QVERIFY(test::openAndWait(*m_window->document(), test::writeModel(m_folder)));
        for (const bool dark : {false, true}) {
            QApplication::setPalette(paletteOf(theme(dark)));
            QCoreApplication::processEvents();
            const QImage image = m_window->grab().toImage();
            const QColor corner = image.pixelColor(image.width() / 2, image.height() - 3);
            QCOMPARE(corner.lightness() < 128, dark);
        }
        QApplication::setPalette(paletteOf(theme(false)));
    }

    /// A note does not disappear, which moves everything below it, while the user is aiming at something.
    void aNoteStaysWhileThePointerMoves() {
        MessageBar* note = m_window->messageBar();
        note->setDelays(500, 1000);
        note->show(MessageKind::Note, QStringLiteral("Wrote a.onnx."));
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < 2000; QTest::qWait(100))
            QCursor::setPos(
                m_window->mapToGlobal(QPoint(100 + static_cast<int>(clock.elapsed() / 100), 100)));
        QVERIFY(note->isVisible());
        QTRY_VERIFY(note->isHidden());
    }

    void csvContainsTheVisibleRows() {
        QVERIFY(test::openAndWait(*m_window->document(), test::writeModel(m_folder)));
        m_window->layerTable()->filterLine()->setText(QStringLiteral("op:relu"));
        const QStringList lines = m_window->layerTable()->asCsv().trimmed().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines.filter(QStringLiteral("1,Relu_1,Relu,")).size() == 1);
    }

    /// Builds of the same commit at different times would differ otherwise.
    void resourcesHaveNoTimestamps() {
        int count = 0;
        for (QDirIterator files(QStringLiteral(":/ui"), QDir::Files); files.hasNext(); ++count) {
            const QFileInfo file(files.next());
            QVERIFY2(!file.lastModified().isValid(), qPrintable(file.filePath()));
        }
        QVERIFY(count > 5);
    }

  private:
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(MainWindowTest)
#include "main_window_test.moc"
