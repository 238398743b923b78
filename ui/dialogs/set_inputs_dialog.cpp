// SPDX-License-Identifier: Apache-2.0
#include "dialogs/set_inputs_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QVBoxLayout>
#include <atomic>

#include "model/load_model.h"
#include "style/path_text.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

enum InputColumn { kInput, kType, kSizes, kValue, kInputColumns };

bool isScalar(const TensorInfo& input) { return input.shape && input.shape->empty(); }

QString sizesOf(const TensorInfo& input) {
    if (isScalar(input)) return SetInputsDialog::tr("scalar");
    QStringList sizes;
    for (const Dim& dim : input.shape.value_or(Shape()))
        sizes << (dim.known()          ? QString::number(dim.value)
                  : dim.symbol.empty() ? QStringLiteral("?")
                                       : QString::fromStdString(dim.symbol));
    return sizes.join(QStringLiteral(", "));
}

/// Written by the engine's thread.
struct Outcome {
    std::atomic<bool> finished = false;  ///< set last
    QString failure;
};

}  // namespace

SetInputsDialog::SetInputsDialog(Document& document, QWidget* parent)
    : QDialog(parent),
      m_document(document),
      m_graph(document.graph()),
      m_path(document.model()->path),
      m_table(new QTableWidget(this)),
      m_status(makeLabel({}, "muted")) {
    setWindowTitle(tr("Set Inputs"));
    const int unit = fontMetrics().height();
    resizeWithinScreen(this, QSize(unit * 38, unit * 24));
    auto* what = makeLabel(
        tr("Writes and opens a copy of the model with other input shapes, or with constants instead of "
           "inputs. Use it to fix an input that selects a branch, such as a sampling rate, so that the "
           "layers of the branch can be quantized. A size is a number, a name, or ? for any size. The batch "
           "dimension has a name that contains \u201cbatch\u201d."),
        "muted");
    what->setWordWrap(true);
    m_status->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_save = buttons->addButton(tr("Save and Open\u2026"), QDialogButtonBox::ActionRole);
    m_save->setDefault(true);
    m_save->setObjectName(QStringLiteral("save"));
    m_status->setObjectName(QStringLiteral("result"));
    auto* column = new QVBoxLayout(this);
    column->setSpacing(unit / 2);
    column->addWidget(what);
    column->addWidget(m_table, 1);
    column->addWidget(m_status);
    column->addWidget(buttons);
    fill();
    connect(m_table, &QTableWidget::itemChanged, this, [this] {
        m_status->clear();
        m_save->setEnabled(!changes().empty());
    });
    connect(m_save, &QPushButton::clicked, this, &SetInputsDialog::saveRequested);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void SetInputsDialog::fill() {
    m_table->setColumnCount(kInputColumns);
    m_table->setHorizontalHeaderLabels({tr("input"), tr("type"), tr("sizes"), tr("value")});
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(kSizes, QHeaderView::Stretch);
    m_table->horizontalHeader()->setSectionResizeMode(kValue, QHeaderView::Interactive);
    m_table->setColumnWidth(kValue, fontMetrics().height() * 8);
    m_table->setEditTriggers(QAbstractItemView::AllEditTriggers);
    m_table->verticalHeader()->hide();
    m_table->setAccessibleName(tr("Inputs"));
    m_table->setRowCount(static_cast<int>(m_graph->inputs().size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const TensorInfo& input = m_graph->tensor(m_graph->inputs()[static_cast<std::size_t>(row)]);
        const QString texts[kInputColumns] = {QString::fromStdString(input.name),
                                              QString::fromStdString(std::string(dataTypeName(input.type))),
                                              sizesOf(input),
                                              {}};
        for (int column = 0; column < kInputColumns; ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            if (column == kInput || column == kType || (column == kSizes && isScalar(input)))
                item->setFlags(item->flags() & ~Qt::ItemIsEditable);
            m_table->setItem(row, column, item);
        }
        m_table->item(row, kInput)->setToolTip(texts[kInput]);
        m_table->item(row, kValue)->setToolTip(tr("A number: the input becomes a constant with this value"));
    }
    m_save->setEnabled(false);
}

InputChanges SetInputsDialog::changes() const {
    InputChanges changes;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const TensorInfo& input = m_graph->tensor(m_graph->inputs()[static_cast<std::size_t>(row)]);
        const QString sizes = m_table->item(row, kSizes)->text().simplified(),
                      value = m_table->item(row, kValue)->text().trimmed();
        if (sizes != sizesOf(input)) {
            std::vector<std::string>& list = changes.shapes[input.name];
            for (const QString& size : sizes.split(QLatin1Char(',')))
                list.push_back(size.trimmed().toStdString());
        }
        if (!value.isEmpty()) changes.values[input.name] = value.toStdString();
    }
    return changes;
}

void SetInputsDialog::reject() {
    m_document.job()->cancelExport(m_writing);
    QDialog::reject();
}

void SetInputsDialog::write(const std::filesystem::path& path) {
    try {
        m_document.inputPaths().checkOutput(path);
    } catch (const std::exception& error) {
        setRole(m_status, "bad");
        return m_status->setText(sentence(QString::fromUtf8(error.what())));
    }
    m_save->setEnabled(false);
    setRole(m_status, "muted");
    m_status->setText(tr("Writing %1\u2026").arg(pathText(path.filename())));
    const auto outcome = std::make_shared<Outcome>();
    auto* waiting = new QObject(this);
    connect(m_document.job(), &EvaluationJob::exported, waiting, [this, waiting, outcome, path] {
        if (!outcome->finished) return;  // another export
        waiting->deleteLater();
        m_save->setEnabled(true);
        m_status->clear();
        if (outcome->failure.isEmpty()) {
            m_written = path;
            return accept();
        }
        setRole(m_status, "bad");
        m_status->setText(sentence(outcome->failure));
    });
    m_writing = m_document.job()->runExport(
        tr("model with other inputs"),
        [outcome, path, model = m_path, changes = changes()](Session&, const CancelToken& cancel) {
            try {
                const LoadedModel changed = loadModel(model, changes);
                cancel.check();
                saveModel(*changed.graph, path);
            } catch (const Cancelled&) {
                throw;
            } catch (const std::exception& error) {
                outcome->failure = QString::fromUtf8(error.what());
            }
            outcome->finished = true;
            return QString();
        });
}

}  // namespace quantloupe::ui
