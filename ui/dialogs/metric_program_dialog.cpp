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

namespace quantloupe::ui {

namespace {

QString outOfDate() { return MetricProgramDialog::tr("Out of date: run it again."); }

QString resultText(double floating, double quantized) {
    return MetricProgramDialog::tr("float %1, quantized %2")
        .arg(formatOwnMetric(floating), formatOwnMetric(quantized));
}

}  // namespace

MetricProgramDialog::MetricProgramDialog(Document& document, QWidget* parent)
    : QDialog(parent), m_document(document) {
    setWindowTitle(tr("Metric Program"));
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setSpacing(unit / 2);
    auto* what = makeLabel(
        tr("Your program reads the outputs of all evaluation samples from a .npz file and prints a number. "
           "It runs once for the float and once for each quantized network."),
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
    m_lower = new ToggleSwitch(tr("Lower is better"));
    m_lower->setToolTip(tr("For errors and losses"));
    column->addWidget(m_lower);
    column->addWidget(makeLabel(tr("This command will run with your permissions:"), "muted"));
    m_command = makeLabel({}, "");
    m_command->setFont(numberFont(font()));
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_command);
    m_result = makeLabel({}, "muted");
    m_result->setWordWrap(true);
    m_result->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_always = new ToggleSwitch(tr("Run it in every evaluation"));
    m_always->setToolTip(tr(
        "The summary bar shows the metric, and leave-one-out, suggestions and the search use it instead of "
        "the accuracy"));
    column->addWidget(m_always);
    column->addWidget(m_result);
    column->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_run = buttons->addButton(tr("Run Once"), QDialogButtonBox::ActionRole);
    // Enter in a field neither runs a program nor closes the dialog.
    m_run->setAutoDefault(false);
    buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);
    column->addWidget(buttons);
    m_program->setObjectName(QStringLiteral("program"));
    m_arguments->setObjectName(QStringLiteral("arguments"));
    m_always->setObjectName(QStringLiteral("always"));
    m_result->setObjectName(QStringLiteral("result"));
    alignRows(this);
    setMinimumWidth(unit * 34);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Metric Program"));
        if (!path.isEmpty()) m_program->setText(path);
    });
    const auto change = [this] {  // another command needs the user's consent again
        useInEvaluations(false);
    };
    connect(m_program, &QLineEdit::textChanged, this, change);
    connect(m_arguments, &QLineEdit::textChanged, this, change);
    connect(m_lower, &ToggleSwitch::toggled, this, [this] { useInEvaluations(m_always->isChecked()); });
    connect(m_always, &ToggleSwitch::clicked, this, &MetricProgramDialog::useInEvaluations);
    connect(&document, &Document::metricProgramChanged, this, &MetricProgramDialog::refresh);
    connect(&document, &Document::evaluationChanged, this, &MetricProgramDialog::showResult);
    connect(&document, &Document::failed, this, [this](const Failure& failure) {
        if (m_document.metricProgram() && failure.during == Failure::During::Evaluation)
            m_result->setText(sentence(failure.text));
    });
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
    const bool possible = !program.isEmpty() && m_document.data().has_value();
    m_run->setEnabled(possible && !m_running);
    m_always->setEnabled(possible);
    m_always->setChecked(m_document.metricProgram().has_value());
    if (!m_document.data())
        m_result->setText(tr("Open evaluation data first."));
    else if (m_needsData)
        m_result->clear();
    m_needsData = !m_document.data();
}

MetricProgram MetricProgramDialog::program() const {
    MetricProgram metric;
    metric.program = m_program->text().trimmed().toStdString();
    for (const QString& argument : QProcess::splitCommand(m_arguments->text()))
        metric.arguments.push_back(argument.toStdString());
    metric.lowerIsBetter = m_lower->isChecked();
    return metric;
}

void MetricProgramDialog::useInEvaluations(bool on) {
    m_document.setMetricProgram(on ? std::optional(program()) : std::nullopt);
    if (!on) m_result->clear();
    refresh();
}

/// Shows the metric of the evaluation.
void MetricProgramDialog::showResult() {
    if (!m_document.metricProgram()) return;
    const EvaluationPtr evaluation = m_document.evaluation();
    const auto values = evaluation ? userMetricOf(*evaluation) : std::nullopt;
    m_result->setText(values && !m_document.accuracyStale() ? resultText(values->floating, values->quantized)
                                                            : m_document.staleWord());
}

void MetricProgramDialog::run() {
    const MetricProgram metric = program();
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
                self->finish(changed ? outOfDate() : resultText(values.floating, values.quantized));
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
