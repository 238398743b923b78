// SPDX-License-Identifier: Apache-2.0
#include "dialogs/metric_program_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QPointer>
#include <QProcess>

#include "models/command_line.h"
#include "session/stages/user_metrics.h"
#include "style/theme.h"
#include "widgets/aligned_rows.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

QString outOfDate() { return MetricProgramDialog::tr("Out of date: run it again."); }

}  // namespace

MetricProgramDialog::MetricProgramDialog(Document& document, QWidget* parent)
    : QDialog(parent), m_document(document) {
    setWindowTitle(tr("Metric Program"));
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setSpacing(unit / 2);
    auto* what = makeLabel(
        tr("Your program reads the outputs of all evaluation samples from a .npz file and prints a number. "
           "It runs twice: for the float and for the quantized network."),
        "muted");
    what->setWordWrap(true);
    column->addWidget(what);
    m_program = new QLineEdit;
    m_program->setAccessibleName(tr("Program"));
    auto* place = new QWidget;
    auto* row = new QHBoxLayout(place);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(m_program, 1);
    auto* choose = new QPushButton(tr("Choose\u2026"));
    choose->setAutoDefault(false);
    row->addWidget(choose);
    column->addWidget(
        makeRow(tr("Program"), place, tr("An executable file, such as a Python script with #!")));
    m_arguments = new QLineEdit;
    m_arguments->setAccessibleName(tr("Arguments"));
    column->addWidget(
        makeRow(tr("Arguments"), m_arguments,
                tr("Passed before the path of the .npz file; quote arguments that contain spaces")));
    column->addWidget(makeLabel(tr("This command will run with your permissions:"), "muted"));
    m_command = makeLabel({}, "");
    m_command->setFont(numberFont(font()));
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_command);
    m_result = makeLabel({}, "muted");
    m_result->setWordWrap(true);
    m_result->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_result);
    column->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_run = buttons->addButton(tr("Run This Command"), QDialogButtonBox::ActionRole);
    // Enter in a field neither runs a program nor closes the dialog.
    m_run->setAutoDefault(false);
    buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);
    column->addWidget(buttons);
    alignRows(this);
    setMinimumWidth(unit * 34);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Metric Program"));
        if (!path.isEmpty()) m_program->setText(path);
    });
    connect(m_program, &QLineEdit::textChanged, this, &MetricProgramDialog::refresh);
    connect(m_arguments, &QLineEdit::textChanged, this, &MetricProgramDialog::refresh);
    connect(m_run, &QPushButton::clicked, this, &MetricProgramDialog::run);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    const auto forget = [this] {
        if (!m_running && m_measured) m_result->setText(outOfDate());
        m_measured = false;
        refresh();
    };
    connect(&document, &Document::configChanged, this, forget);
    connect(&document, &Document::dataChanged, this, forget);
    connect(&document, &Document::modelChanged, this, forget);
    connect(document.job(), &EvaluationJob::queriesDropped, this, [this] {
        if (!m_running) return;
        m_running = false;
        m_result->setText(tr("Stopped by another evaluation: run it again."));
        refresh();
    });
    refresh();
}

void MetricProgramDialog::refresh() {
    const QString program = m_program->text().trimmed();
    QStringList words{shellQuoted(program)};
    for (const QString& argument : QProcess::splitCommand(m_arguments->text()))
        words << shellQuoted(argument);
    words << QStringLiteral("outputs.npz");
    m_command->setText(program.isEmpty() ? tr("no program chosen") : words.join(QLatin1Char(' ')));
    m_run->setEnabled(!program.isEmpty() && m_document.data().has_value() && !m_running);
    if (!m_document.data())
        m_result->setText(tr("Open evaluation data first."));
    else if (m_needsData)
        m_result->clear();
    m_needsData = !m_document.data();
}

void MetricProgramDialog::run() {
    MetricProgram metric;
    metric.program = m_program->text().trimmed().toStdString();
    for (const QString& argument : QProcess::splitCommand(m_arguments->text()))
        metric.arguments.push_back(argument.toStdString());
    m_running = true;
    m_result->setText(tr("Running\u2026"));
    refresh();
    m_document.job()->query(
        QuerySlot::MetricProgram,
        [self = QPointer(this), metric, config = m_document.config()](
            Session& session, const CancelToken& cancel) -> std::function<void()> {
            const UserMetricValues values = measureUserMetric(session, config, programMetric(metric), cancel);
            return [self, values, config] {
                if (!self) return;
                const bool changed = config != self->m_document.config();  // while the program was running
                self->finish(changed
                                 ? outOfDate()
                                 : tr("float %1, quantized %2").arg(values.floating).arg(values.quantized));
            };
        },
        [self = QPointer(this)](const QString& refusal) {
            if (self) self->finish(sentence(refusal));
        });
}

void MetricProgramDialog::finish(const QString& result) {
    m_running = false;
    m_measured = true;
    m_result->setText(result);
    refresh();
}

}  // namespace quantloupe::ui
