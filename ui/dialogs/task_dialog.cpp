// SPDX-License-Identifier: Apache-2.0
#include "dialogs/task_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>

#include "analysis/box_decoders.h"
#include "style/path_text.h"
#include "style/words.h"
#include "widgets/aligned_rows.h"

namespace quantloupe::ui {

namespace {

QString taskName(Task task) {
    switch (task) {
        case Task::Automatic:
            return Words::tr("Automatic (from the labels)");
        case Task::Classification:
            return Words::tr("Classification");
        case Task::Detection:
            return Words::tr("Detection");
        case Task::Segmentation:
            return Words::tr("Segmentation");
        case Task::Regression:
            return Words::tr("Regression (no classes)");
        case Task::Tokens:
            return Words::tr("Tokens (one class for each)");
    }
    return {};
}

}  // namespace

QString taskInWords(const TaskSettings& task) {
    QStringList parts;
    if (task.task != Task::Automatic) parts << taskName(task.task);
    if (!task.labels.empty()) parts << pathText(task.labels.filename());
    if (!task.decoder.empty()) parts << QString::fromStdString(task.decoder);
    if (!task.classOutput.empty()) parts << QString::fromStdString(task.classOutput);
    if (!task.classNames.empty()) parts << pathText(task.classNames.filename());
    return parts.join(QStringLiteral(", "));
}

TaskDialog::TaskDialog(Document& document, QWidget* parent) : QDialog(parent), m_document(document) {
    setWindowTitle(tr("Labels"));
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setSpacing(unit / 2);
    m_labels =
        addPath(column, tr("Labels"),
                tr("A text file with lines such as \"image.jpg 65\" (classification), a COCO file "
                   "(detection), or a folder with one label image per image (segmentation). Empty: the "
                   "subfolders of the data are the classes, or the array 'labels' contains them"),
                true);
    m_task = new ChoiceBox(tr("Task"));
    for (const Task task : {Task::Automatic, Task::Classification, Task::Detection, Task::Segmentation,
                            Task::Regression, Task::Tokens})
        m_task->addChoice(taskName(task), {});
    column->addWidget(makeRow(tr("Task"), m_task, tr("The task of the network")));
    m_decoder = new ChoiceBox(tr("Decoder"));
    m_decoder->addChoice(tr("Automatic (from the outputs)"), {});
    for (const BoxDecoder& decoder : boxDecoders())
        m_decoder->addChoice(viewText(decoder.name), viewText(decoder.title));
    column->addWidget(
        makeRow(tr("Decoder"), m_decoder, tr("How boxes are decoded from the outputs of a detector")));
    m_categories = new ChoiceBox(tr("Class index"));
    m_categories->addChoice(tr("Automatic (from the decoder)"), {});
    m_categories->addChoice(tr("Position among the categories"),
                            tr("Class k is the category with the k-th smallest id"));
    m_categories->addChoice(tr("Category id"), tr("Class k is the category with the id k"));
    column->addWidget(makeRow(tr("Class index"), m_categories,
                              tr("How the classes of a detector relate to the categories")));
    m_scores = new ChoiceBox(tr("Class scores"));
    column->addWidget(
        makeRow(tr("Class scores"), m_scores, tr("The output that top-1 and agreement are computed on")));
    m_names = addPath(column, tr("Class names"), tr("A text file with one name per line"), false);
    m_status = makeLabel({}, "muted");
    m_status->setWordWrap(true);
    column->addWidget(m_status);
    column->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_apply = buttons->addButton(tr("Apply"), QDialogButtonBox::ApplyRole);
    m_apply->setDefault(true);
    column->addWidget(buttons);
    alignRows(this);
    setMinimumWidth(unit * 32);
    connect(m_apply, &QPushButton::clicked, this, [this] {
        showStatus({});
        m_tried = entered();
        m_document.setTask(*m_tried);
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(&document, &Document::dataChanged, this, [this] {
        if (m_tried == m_document.task()) m_tried.reset();
        if (isVisible()) fill(m_document.task());
        showStatus({});
    });
    connect(&document, &Document::failed, this, [this](const Failure& failure) {
        if (!isVisible()) return;
        // The document has returned to its earlier labels.
        if (m_tried && failure.during == Failure::During::Data) fill(*m_tried);
        showStatus(sentence(failure.text));
    });
}

QLineEdit* TaskDialog::addPath(QVBoxLayout* column, const QString& name, const QString& tip, bool folders) {
    auto* field = new QLineEdit;
    field->setAccessibleName(name);
    auto* place = new QWidget;
    auto* row = new QHBoxLayout(place);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(field, 1);
    const auto add = [&](const QString& label, bool folder) {
        auto* button = new QPushButton(label);
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, [this, field, name, folder] {
            const QString path = folder ? QFileDialog::getExistingDirectory(this, name)
                                        : QFileDialog::getOpenFileName(this, name);
            if (!path.isEmpty()) field->setText(path);
        });
        row->addWidget(button);
    };
    add(tr("File\u2026"), false);
    if (folders) add(tr("Folder\u2026"), true);
    column->addWidget(makeRow(name, place, tip));
    return field;
}

void TaskDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    if (event->spontaneous()) return;
    m_tried.reset();
    fill(m_document.task());
    showStatus({});
}

void TaskDialog::fill(const TaskSettings& task) {
    m_labels->setText(pathText(task.labels));
    m_names->setText(pathText(task.classNames));
    m_task->setCurrentIndex(static_cast<int>(task.task));
    m_categories->setCurrentIndex(static_cast<int>(task.categories));
    m_scores->clear();
    m_scores->addChoice(tr("Automatic (from the outputs)"), {});
    if (const GraphPtr graph = m_document.graph())
        for (const TensorId output : graph->outputs())
            m_scores->addChoice(QString::fromStdString(graph->tensor(output).name), {});
    m_scores->setCurrentIndex(
        std::max(0, m_scores->findText(QString::fromStdString(task.classOutput), Qt::MatchExactly)));
    m_decoder->setCurrentIndex(0);
    for (std::size_t d = 0; d < boxDecoders().size(); ++d)
        if (task.decoder == boxDecoders()[d].name) m_decoder->setCurrentIndex(static_cast<int>(d) + 1);
}

TaskSettings TaskDialog::entered() const {
    TaskSettings task;
    task.task = static_cast<Task>(m_task->currentIndex());
    task.labels = m_labels->text().trimmed().toStdString();
    task.classNames = m_names->text().trimmed().toStdString();
    task.categories = static_cast<CategoryIndex>(m_categories->currentIndex());
    if (m_scores->currentIndex() > 0) task.classOutput = m_scores->currentText().toStdString();
    if (const int decoder = m_decoder->currentIndex(); decoder > 0)
        task.decoder = boxDecoders()[static_cast<std::size_t>(decoder) - 1].name;
    return task;
}

void TaskDialog::showStatus(const QString& problem) {
    setRole(m_status, problem.isEmpty() ? "muted" : "bad");
    const auto& opened = m_document.data();
    m_status->setText(!problem.isEmpty()              ? problem
                      : opened                        ? tr("Evaluation data: %1.").arg(opened->description)
                      : m_document.dataPath().empty() ? tr("No data yet: open evaluation data first.")
                                                      : tr("The data have not been read."));
    m_apply->setEnabled(!m_document.dataPath().empty() || !problem.isEmpty());
    resize(width(), std::max(height(), layout()->totalHeightForWidth(width())));
}

}  // namespace quantloupe::ui
