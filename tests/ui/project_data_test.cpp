// SPDX-License-Identifier: Apache-2.0
// A project and its data: preprocessing that differs from the project's file, and data that have moved.
#include <future>

#include "base/atomic_file.h"
#include "color_document.h"
#include "session/project/project_file.h"

using namespace quantloupe;
using namespace quantloupe::ui;
namespace fs = std::filesystem;

class ProjectDataTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() { QVERIFY(openDocument()); }
    void cleanup() { m_document.reset(); }

    /// The project contains the preprocessing of the file as it was.
    void aChangedPreprocessingFileIsAnUnsavedChange() {
        QVERIFY(m_document->saveProject(project()));
        QVERIFY(m_document->undoStack()->isClean());
        const fs::path beside = m_document->preprocessFile();
        writeFileAtomically(beside, preprocessToJson(exchanged()));
        m_document->setPreprocess(std::nullopt);
        QVERIFY(evaluated());
        QVERIFY(m_document->data()->preprocess == exchanged());
        QVERIFY(!m_document->undoStack()->isClean());
        QVERIFY(m_document->saveProject(project()));
        QVERIFY(m_document->undoStack()->isClean());
        QVERIFY(loadProject(project()).preprocess == exchanged());
        fs::remove(beside);
    }

    void savingWhileDataAreReadKeepsTheRequest() {
        auto done = std::make_shared<std::promise<void>>();
        m_document->job()->runExport(QStringLiteral("wait"), [done](Session&, const CancelToken&) -> QString {
            done->get_future().wait();
            return {};
        });
        m_document->setPreprocess(exchanged());
        QVERIFY(m_document->saveProject(project()));
        QVERIFY(loadProject(project()).preprocess == exchanged());
        done->set_value();
        QVERIFY(evaluated());
        QVERIFY(m_document->undoStack()->isClean());
    }

    void anUndoWithoutEffectIsAnUnsavedChange() {
        m_document->setPreprocess(exchanged());
        QVERIFY(evaluated());
        const fs::path elsewhere = m_folder.filePath(QStringLiteral("elsewhere")).toStdString();
        fs::rename(m_data, elsewhere);
        QSignalSpy failed(m_document.get(), &Document::failed);
        m_document->undoStack()->undo();
        QVERIFY(m_document->saveProject(project()));
        QVERIFY(failed.wait(20000));
        QVERIFY(evaluated());
        fs::rename(elsewhere, m_data);
        QVERIFY(m_document->data()->preprocess == exchanged());
        QVERIFY(!m_document->undoStack()->isClean());
        QVERIFY(m_document->project().preprocess == exchanged());
    }

    void aProjectWrittenElsewhereIsNoticed() {
        QVERIFY(m_document->saveProject(project()));
        QVERIFY(!m_document->projectWrittenElsewhere());
        Document other;
        QVERIFY(test::openAndWait(other, project()));
        QVERIFY(!other.projectWrittenElsewhere());
        QVERIFY(other.saveProject(project()));
        QVERIFY(!other.projectWrittenElsewhere());
        QVERIFY(m_document->projectWrittenElsewhere());
        QVERIFY(m_document->saveProject(project()));
        QVERIFY(!m_document->projectWrittenElsewhere());
    }

    void movedDataKeepTheirLabels() {
        QFile file(m_folder.filePath(QStringLiteral("names.txt")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("green\nblue\n");
        file.close();
        TaskSettings names;
        names.classNames = file.fileName().toStdString();
        m_document->setTask(names);
        QVERIFY(evaluated());
        QVERIFY(m_document->saveProject(project()));
        const fs::path elsewhere = m_folder.filePath(QStringLiteral("elsewhere")).toStdString();
        fs::rename(m_data, elsewhere);
        m_document = std::make_unique<Document>();
        QSignalSpy failed(m_document.get(), &Document::failed);
        m_document->open({project(), {}, {}, {}});
        QVERIFY(failed.wait(20000));
        m_document->openEvaluationData(elsewhere);
        QVERIFY(waitFor([&] { return m_document->data() && !m_document->job()->busy(); }));
        fs::rename(elsewhere, m_data);
        QVERIFY(m_document->task() == names);
        QVERIFY(m_document->data()->evaluationPath == elsewhere);
        QVERIFY(!m_document->undoStack()->isClean());
    }

  private:
    fs::path project() const { return m_folder.filePath(QStringLiteral("p.quantloupe")).toStdString(); }
    Preprocess exchanged() const {
        Preprocess other = m_document->preprocess();
        other.color = Preprocess::Color::Bgr;
        return other;
    }
};

QTEST_MAIN(ProjectDataTest)
#include "project_data_test.moc"
