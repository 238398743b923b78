// SPDX-License-Identifier: Apache-2.0
// Preprocessing and labels in the window: dialogs, warnings, undo. The network's numbers are derived in
// color_data.h.
#include <QApplication>
#include <future>

#include "analysis/label_check.h"
#include "color_document.h"
#include "dialogs/metric_program_dialog.h"
#include "dialogs/preprocess_dialog.h"
#include "dialogs/task_dialog.h"
#include "models/headline.h"
#include "models/layer_insight.h"
#include "panels/data_section.h"
#include "panels/flipped_panel.h"
#include "widgets/aligned_rows.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class DataDialogsTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() { QVERIFY(openDocument()); }
    void cleanup() { m_document.reset(); }

    void rowsOfDialogsAreAligned() {
        TaskDialog labels(*m_document);
        MetricProgramDialog program(*m_document);
        for (QDialog* dialog : {static_cast<QDialog*>(&labels), static_cast<QDialog*>(&program)}) {
            dialog->show();
            QVERIFY(QTest::qWaitForWindowExposed(dialog));
            const auto names = dialog->findChildren<QLabel*>(kRowLabel);
            QVERIFY(names.size() >= 2);
            for (const QLabel* name : names) QCOMPARE(name->width(), names.front()->width());
        }
    }

    void wrongLabelsGiveAWarning() {
        QVERIFY(labelProblem(*m_document->evaluation()).text.empty());
        Document swapped;
        // With swapped labels, every prediction is wrong.
        QVERIFY(test::openColors(swapped, m_folder,
                                 test::writeColors(m_folder, QStringLiteral("swapped"), QStringLiteral("z"),
                                                   QStringLiteral("a"))));
        DataSection section(&swapped);
        section.resize(400, 400);
        section.show();
        const QString warning = QString::fromStdString(labelProblem(*swapped.evaluation()).text);
        QVERIFY2(warning.contains(QStringLiteral("another order")), qPrintable(warning));
        bool seen = false;
        for (const QLabel* label : section.findChildren<QLabel*>())
            seen = seen || (label->isVisible() && label->text() == warning);
        QVERIFY(seen);
        QCOMPARE(swapped.data()->networkViews.size(), 4);
        QVERIFY2(swapped.data()->networkSpan.startsWith(QStringLiteral("0.00 to 0.")),
                 qPrintable(swapped.data()->networkSpan));
    }

    void labelsStayIfOtherDataCannotBeRead() {
        const TaskSettings names = classNames();
        m_document->setTask(names);
        QVERIFY(evaluated());
        QCOMPARE(m_document->data()->task.classNames, names.classNames);
        QSignalSpy failed(m_document.get(), &Document::failed);
        m_document->openData("missing");
        QVERIFY(failed.wait(20000));
        QVERIFY(evaluated());
        QVERIFY(m_document->task() == names);
        QVERIFY(m_document->project().task == names);
        QVERIFY(m_document->project().data == m_data);
    }

    void editsOfDataThatFailLeaveNothingBehind() {
        m_document->select(NodeId(0));
        LayerInsightModel insight(m_document.get());
        insight.setWanted(true);
        QTRY_VERIFY_WITH_TIMEOUT(insight.insight(), 20000);
        const int steps = m_document->undoStack()->index();
        QSignalSpy failed(m_document.get(), &Document::failed);
        TaskSettings missing;
        missing.labels = "no_such_labels.json";
        m_document->setTask(missing);
        QVERIFY(failed.wait(20000));
        QVERIFY(m_document->task() == TaskSettings());
        QCOMPARE(m_document->undoStack()->count(), steps);
        QTRY_VERIFY_WITH_TIMEOUT(insight.insight(), 20000);
    }

    /// The session used the new images, although the window showed the earlier ones.
    void imagesThatCannotBeReadDoNotReplaceTheData() {
        QVERIFY(QDir(m_folder.path()).mkpath(QStringLiteral("large")));
        for (const char* name : {"large/1.png", "large/2.png"}) {
            QImage image(5, 5, QImage::Format_RGB32);
            image.fill(Qt::green);
            QVERIFY(image.save(m_folder.filePath(QLatin1String(name))));
        }
        QSignalSpy failed(m_document.get(), &Document::failed);
        m_document->openData(m_folder.filePath(QStringLiteral("large")).toStdString());
        QVERIFY(failed.wait(20000));
        QVERIFY(evaluated());
        QVERIFY(m_document->data()->evaluationPath == m_data);
        QuantizationConfig config = m_document->config();
        config.quantization.weight.bits = 8;
        m_document->edit({config, QStringLiteral("8 bits"), {}});
        QVERIFY(evaluated());
        QCOMPARE(failed.size(), 1);
        QCOMPARE(m_document->evaluation()->quantized->top1.value_or(-1), 1.0);
    }

    void cancelledDataDoesNotReplaceTheData() {
        const auto cancelled = keepBusy();
        QSignalSpy failed(m_document.get(), &Document::failed);
        m_document->openData(test::writeColors(m_folder, QStringLiteral("late")));
        m_document->job()->cancel();
        cancelled->set_value();
        QVERIFY(failed.wait(20000));
        QVERIFY(evaluated());
        QVERIFY(m_document->data()->evaluationPath == m_data);
    }

    /// The document had the labels that were not read; its numbers had the others.
    void anEditDoesNotHideThatDataWasCancelled() {
        m_document->setTask(classNames());
        QVERIFY(evaluated());
        for (const bool otherData : {false, true}) {
            const auto cancelled = keepBusy();
            QSignalSpy failed(m_document.get(), &Document::failed);
            if (otherData)
                m_document->openData(test::writeColors(m_folder, QStringLiteral("late")));
            else
                m_document->setTask({});
            changeBits(otherData ? 6 : 7);
            m_document->cancel();
            cancelled->set_value();
            QVERIFY(failed.wait(20000));
            QVERIFY(evaluated());
            QVERIFY(m_document->data()->evaluationPath == m_data);
            QVERIFY(m_document->task() == classNames());
            QVERIFY(m_document->data()->requestedTask == classNames());
        }
    }

    void aProjectHasTheLabelsOfItsData() {
        m_document->setTask(classNames());
        QVERIFY(evaluated());
        const auto read = keepBusy();
        m_document->openData("missing");
        const Project project = m_document->project();
        QVERIFY(project.data == m_data);
        QVERIFY(project.task == classNames());
        read->set_value();
        QVERIFY(evaluated());
    }

    /// The other model would replace this one together with the edit.
    void editsAreRefusedWhileAnotherModelIsOpened() {
        const auto opened = keepBusy();
        const QuantizationConfig before = m_document->config();
        m_document->open({m_document->model()->path, {}, {}, {}});
        changeBits(5);
        QVERIFY(m_document->config() == before);
        m_document->setTask(classNames());
        QVERIFY(m_document->task() == TaskSettings());
        opened->set_value();
        QVERIFY(evaluated());
        changeBits(5);
        QVERIFY(m_document->config() != before);
        QVERIFY(evaluated());
    }

    /// A click on a layer of an earlier model crashed.
    void imagesForgetTheErrorsOfEarlierData() {
        FlippedPanel panel(m_document.get());
        panel.resize(600, 400);
        panel.show();
        QVERIFY(waitFor([&] { return panel.view()->model()->rowCount() > 0; }));
        panel.view()->setCurrentIndex(panel.view()->model()->index(0, 0));
        QVERIFY(waitFor([&] { return panel.divergence().has_value(); }));
        bool forgotten = false;
        connect(m_document.get(), &Document::dataChanged, &panel,
                [&] { forgotten = !panel.divergence().has_value(); });
        m_document->openData(test::writeColors(m_folder, QStringLiteral("others")));
        QVERIFY(waitFor([&] { return forgotten; }));
        QVERIFY(evaluated());
        m_document->select({NodeId(0), NodeId(1000)}, NodeId(1000));
        QCOMPARE(m_document->selection(), std::vector<NodeId>{NodeId(0)});
        QVERIFY(!m_document->current().valid());
    }

    void undoChangesNoLabelsOfOtherData() {
        m_document->setTask(classNames());
        QVERIFY(evaluated());
        m_document->openData(test::writeColors(m_folder, QStringLiteral("other")));
        QVERIFY(evaluated());
        QVERIFY(m_document->task() == TaskSettings());
        m_document->undoStack()->undo();
        m_document->undoStack()->redo();
        QVERIFY(evaluated());
        QVERIFY(m_document->task() == TaskSettings());
    }

    void thePreprocessingIsChangedInTheWindow() {
        PreprocessDialog dialog(*m_document);
        dialog.QWidget::show();
        QCOMPARE(test::child<ChoiceBox>(dialog)->currentText(), QStringLiteral("0 to 1"));
        // The images are fully visible.
        QVERIFY(waitFor([&] {
            for (const auto* label : dialog.findChildren<QLabel*>())
                if (!label->pixmap().isNull())
                    return label->height() >= label->pixmap().deviceIndependentSize().height();
            return false;
        }));
        QCOMPARE(test::child<QLineEdit>(dialog, "scale")->text(), QStringLiteral("1/255"));
        test::child<ChoiceBox>(dialog)->setFocus();
        QTest::keyClick(test::child<ChoiceBox>(dialog), Qt::Key_Down);
        QCOMPARE(test::child<QLineEdit>(dialog, "scale")->text(), QStringLiteral("1"));
        test::button(dialog, "apply")->click();
        QVERIFY(evaluated());
        QCOMPARE(m_document->data()->preprocess.scale, 1.0f);
        QVERIFY2(m_document->data()->networkSpan.endsWith(QStringLiteral(" 180.00")),
                 qPrintable(m_document->data()->networkSpan));  // 120 + 5 * 12: the 13th of 24
        QCOMPARE(m_document->project().preprocess->scale, 1.0f);
        QVERIFY2(test::labelText(dialog, "result").contains(QStringLiteral("100.0")),
                 qPrintable(test::labelText(dialog, "result")));  // a factor changes no class

        // It is undone like any edit.
        QCOMPARE(m_document->undoStack()->undoText(), QStringLiteral("Preprocessing"));
        m_document->undoStack()->undo();
        QVERIFY(evaluated());
        QVERIFY(!m_document->hasOwnPreprocess());
        QCOMPARE(m_document->data()->preprocess.scale, 1.0f / 255);
        m_document->undoStack()->redo();
        QVERIFY(evaluated());
        QCOMPARE(m_document->data()->preprocess.scale, 1.0f);

        // Blue and red exchanged: a blue image without red looks like one class as much as the other, and
        // counts as green.
        QTest::mouseClick(test::child<SegmentedControl>(dialog, "colors")->button(1), Qt::LeftButton);
        test::button(dialog, "apply")->click();
        QVERIFY(evaluated());
        const double exchanged = *m_document->evaluation()->floating->top1;
        QVERIFY2(exchanged < 1 && exchanged > 0.5, qPrintable(QString::number(exchanged)));

        // Errors appear here, and the data is kept.
        test::child<QLineEdit>(dialog, "mean")->setText(QStringLiteral("1, x, 3"));
        test::button(dialog, "apply")->click();
        QVERIFY(!test::labelText(dialog, "result").isEmpty() &&
                m_document->data()->preprocess.mean == std::vector<float>(3, 0));
        test::child<QLineEdit>(dialog, "mean")->setText(QStringLiteral("0 0 0"));
        QTest::mouseClick(test::child<SegmentedControl>(dialog, "layout")->button(1), Qt::LeftButton);
        test::button(dialog, "apply")->click();
        QVERIFY(
            waitFor([&] { return test::labelText(dialog, "result").contains(QStringLiteral("layout")); }));
        QVERIFY(m_document->data()->preprocess.layout == Preprocess::Layout::Nchw);

        QTest::mouseClick(test::child<SegmentedControl>(dialog, "layout")->button(0), Qt::LeftButton);
        QTest::mouseClick(test::child<SegmentedControl>(dialog, "colors")->button(0), Qt::LeftButton);
        test::child<QLineEdit>(dialog, "resize")->setText(QStringLiteral("4 x 4"));
        test::button(dialog, "save")->click();
        QVERIFY(evaluated());
        const auto file = preprocessBeside(m_document->model()->path);
        QVERIFY(file.has_value());
        QVERIFY(loadPreprocess(*file) == m_document->data()->preprocess);
        QCOMPARE(*m_document->data()->preprocess.resize, (std::array<int, 2>{4, 4}));
        QVERIFY(!m_document->hasOwnPreprocess());
        QCOMPARE(m_document->evaluation()->floating->top1.value_or(-1), 1.0);
        std::filesystem::remove(*file);
    }

  private:
    /// Keeps the engine busy until the promise is kept.
    std::shared_ptr<std::promise<void>> keepBusy() const {
        auto done = std::make_shared<std::promise<void>>();
        m_document->job()->runExport(QStringLiteral("wait"), [done](Session&, const CancelToken&) -> QString {
            done->get_future().wait();
            return {};
        });
        return done;
    }

    void changeBits(int bits) const {
        QuantizationConfig config = m_document->config();
        config.quantization.weight.bits = bits;
        m_document->edit({config, QStringLiteral("bits"), {}});
    }

    TaskSettings classNames() const {
        QFile file(m_folder.filePath(QStringLiteral("names.txt")));
        if (file.open(QIODevice::WriteOnly)) file.write("green\nblue\n");
        TaskSettings task;
        task.classNames = file.fileName().toStdString();
        return task;
    }
};

QTEST_MAIN(DataDialogsTest)
#include "data_dialogs_test.moc"
