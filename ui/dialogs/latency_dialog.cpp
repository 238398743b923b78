// SPDX-License-Identifier: Apache-2.0
#include "dialogs/latency_dialog.h"

#include <QFileDialog>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "models/headline.h"
#include "models/tune_words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {
namespace {

enum Column { kName, kPrecision, kLayers, kTime, kColumns };

/// The sum of the times at each precision.
std::map<Precision, double> timesOf(const LatencySource& source) {
    std::map<Precision, double> sums;
    for (const LatencyRow& row : source.file.rows)
        if (const auto precision = row.precision ? row.precision : source.precision)
            sums[*precision] += row.ms;
    if (sums.empty() && source.precision) sums[*source.precision] = source.file.networkMs.value_or(0);
    return sums;
}

}  // namespace

LatencyDialog::LatencyDialog(Document& document, QWidget* parent)
    : QDialog(parent), m_document(document), m_job(document.job()) {
    setWindowTitle(tr("Latency"));
    setObjectName(QStringLiteral("latency"));
    const int unit = fontMetrics().height();
    resizeWithinScreen(this, QSize(unit * 42, unit * 40));
    auto* what = makeLabel(
        tr("Profiles contain the time of each layer on a device. Measure in ONNX Runtime on this machine, or "
           "import a profile of ONNX Runtime, TensorRT, Qualcomm or Hailo, or a CSV with the columns layer, "
           "precision and ms. Times that were not measured are estimated."),
        "muted");
    what->setWordWrap(true);
    m_sum = makeLabel({}, "", 1.8, QFont::DemiBold);
    m_details = makeLabel({}, "muted");
    m_details->setWordWrap(true);
    m_table = new QTableWidget(0, kColumns);
    m_table->setHorizontalHeaderLabels({tr("profile"), tr("precision"), tr("times"), tr("sum")});
    m_table->setAccessibleName(tr("Latency profiles"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->setMinimumHeight(unit * 5);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(kName, QHeaderView::Stretch);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_unmatchedText = makeLabel({}, "muted");
    m_unmatchedText->setWordWrap(true);
    m_unmatched = new QPlainTextEdit;
    m_unmatched->setReadOnly(true);
    m_unmatched->setAccessibleName(tr("Names that match no layer"));
    m_unmatched->setFixedHeight(unit * 5);
    m_float = new QCheckBox(tr("Also measure the float network, for comparison"));
    m_float->setChecked(true);
    m_python = new PythonField;
    m_status = makeLabel({}, "muted");
    m_status->setWordWrap(true);
    m_status->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_progress = new QProgressBar;
    m_progress->setRange(0, 0);
    m_progress->setTextVisible(false);
    m_progress->hide();
    m_import = new QPushButton(tr("Import\u2026"));
    m_remove = new QPushButton(tr("Remove"));
    m_measure = new QPushButton(tr("Measure"));
    m_measure->setObjectName(QStringLiteral("measure"));
    m_remove->setObjectName(QStringLiteral("remove"));
    m_status->setObjectName(QStringLiteral("result"));
    auto* close = new QPushButton(tr("Close"));
    for (QPushButton* button : {m_import, m_remove, m_measure, close}) button->setAutoDefault(false);
    auto* profiles = new QHBoxLayout;
    profiles->addStretch(1);
    profiles->addWidget(m_remove);
    profiles->addWidget(m_import);
    auto* bottom = new QHBoxLayout;
    bottom->addStretch(1);
    bottom->addWidget(m_measure);
    bottom->addWidget(close);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(unit / 2);
    for (QWidget* part : {what, m_sum, m_details}) column->addWidget(part);
    column->addWidget(m_table, 1);
    column->addWidget(m_unmatchedText);
    column->addWidget(m_unmatched);
    column->addLayout(profiles);
    column->addWidget(buildPending());
    column->addWidget(m_float);
    column->addWidget(PythonField::row(m_python));
    column->addWidget(m_status);
    column->addWidget(m_progress);
    column->addLayout(bottom);

    connect(m_import, &QPushButton::clicked, this, &LatencyDialog::chooseProfile);
    connect(m_remove, &QPushButton::clicked, this, [this] {
        if (m_table->currentRow() >= 0)
            m_document.latency().remove(static_cast<std::size_t>(m_table->currentRow()));
    });
    connect(m_measure, &QPushButton::clicked, this, [this] { m_job.running() ? m_job.cancel() : measure(); });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_table, &QTableWidget::itemSelectionChanged, this,
            [this] { m_remove->setEnabled(m_table->currentRow() >= 0); });
    connect(&m_job, &LatencyJob::stageChanged, this, [this](const QString& stage) { showStatus(stage); });
    connect(&m_job, &LatencyJob::finished, this, [this](const LatencySource& profile) {
        finish();
        showStatus(m_disturbed
                       ? tr("An evaluation ran meanwhile, so the times may be too long. Measure again.")
                       : tr("Measured: the median of %1 runs with one thread in %2.")
                             .arg(profile.file.runs)
                             .arg(QString::fromStdString(profile.name)));
        m_document.latency().add(profile);
    });
    connect(&m_job, &LatencyJob::failed, this, [this](const QString& text) {
        finish();
        showStatus(sentence(text), "bad");
    });
    connect(&m_job, &LatencyJob::cancelled, this, [this] {
        finish();
        showStatus(tr("Cancelled."));
    });
    connect(&document.latency(), &LayerLatency::changed, this, &LatencyDialog::refresh);
    connect(&document, &Document::evaluationChanged, this, [this] {
        m_disturbed = m_disturbed || m_document.evaluating();
        refresh();
    });
    connect(&document, &Document::modelChanged, this, [this] {
        m_job.cancel();
        m_pending.reset();
        showStatus({});
        refresh();
    });
    refresh();
}

/// Builds the question about the precision of a profile that does not state it.
QWidget* LatencyDialog::buildPending() {
    m_pendingPart = new QFrame;
    m_pendingPart->setObjectName(QStringLiteral("banner"));
    m_pendingText = makeLabel({}, "");
    m_pendingText->setWordWrap(true);
    m_precision = new ChoiceBox(tr("Precision of the profile"));
    m_precision->addChoice(tr("as configured now"),
                           tr("Each layer has its precision in the current configuration"));
    for (const char* name : kUsualPrecisions) m_precision->addChoice(QString::fromLatin1(name), {});
    m_add = new QPushButton(tr("Import"));
    m_add->setAutoDefault(false);
    m_add->setObjectName(QStringLiteral("add"));
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setAutoDefault(false);
    m_pendingPart->setMinimumHeight(fontMetrics().height() * 6);
    auto* rows = new QVBoxLayout(m_pendingPart);
    rows->addWidget(m_pendingText);
    auto* row = new QHBoxLayout;
    row->addWidget(m_precision, 1);
    row->addWidget(m_add);
    row->addWidget(cancel);
    rows->addLayout(row);
    connect(m_add, &QPushButton::clicked, this, &LatencyDialog::addPending);
    connect(cancel, &QPushButton::clicked, this, [this] {
        m_pending.reset();
        refresh();
    });
    return m_pendingPart;
}

void LatencyDialog::chooseProfile() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Import Latency Profile"), {},
                                                      tr("Profiles (*.csv *.json);;All files (*)"));
    if (!path.isEmpty()) importFrom(path.toStdString());
}

void LatencyDialog::importFrom(const std::filesystem::path& path) {
    try {
        m_pending = LatencySource{readLatencyFile(path), std::nullopt, path.filename().string()};
    } catch (const std::exception& error) {
        return showStatus(sentence(QString::fromUtf8(error.what())), "bad");
    }
    showStatus({});
    const auto& rows = m_pending->file.rows;
    const bool stated = !rows.empty() && std::ranges::all_of(rows, [](const LatencyRow& row) {
        return row.precision.has_value();
    });
    if (stated) return addPending();
    m_precision->setCurrentIndex(0);
    m_pendingText->setText(
        tr("%1 (%2) does not say at which precision the layers ran. It was measured with:")
            .arg(QString::fromStdString(m_pending->name), QString::fromStdString(m_pending->file.format)));
    refresh();
}

void LatencyDialog::addPending() {
    if (!m_pending) return;
    if (const int choice = m_precision->currentIndex(); choice > 0 && m_pendingPart->isVisibleTo(this))
        m_pending->precision = precisionNamed(kUsualPrecisions[static_cast<std::size_t>(choice) - 1]);
    m_document.latency().add(*std::exchange(m_pending, std::nullopt));
    refresh();
}

void LatencyDialog::measure() {
    if (m_job.running()) return;
    m_measure->setText(tr("Cancel"));
    m_progress->show();
    m_document.setQuiet(true);
    m_disturbed = m_document.evaluating();
    m_job.start(m_document.config(), m_float->isChecked(), m_python->path());
}

void LatencyDialog::finish() {
    m_progress->hide();
    m_measure->setText(tr("Measure"));
    m_document.setQuiet(false);
}

void LatencyDialog::showStatus(const QString& text, const char* role) {
    setRole(m_status, role);
    m_status->setText(text);
}

void LatencyDialog::refresh() {
    const LayerLatency& latency = m_document.latency();
    const auto sum = latency.sum(m_document.layers());
    m_sum->setText(!sum               ? tr("No profile")
                   : sum->estimated() ? tr("%1 (estimated)").arg(latencyText(*sum))
                                      : latencyText(*sum));
    m_details->setText(sum ? latencyDetails(*sum) : QString());
    m_details->setVisible(sum.has_value());
    m_table->setRowCount(static_cast<int>(latency.sources().size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const LatencySource& source = latency.sources()[static_cast<std::size_t>(row)];
        QStringList precisions, sums;
        for (const auto& [precision, ms] : timesOf(source)) {
            precisions << QString::fromStdString(precisionName(precision));
            sums << formatMilliseconds(ms);
        }
        const QString texts[kColumns] = {
            QString::fromStdString(source.name), precisions.join(QStringLiteral(", ")),
            QString::number(source.file.rows.size()), sums.join(QStringLiteral(", "))};
        for (int column = 0; column < kColumns; ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            item->setToolTip(column == kName ? QString::fromStdString(source.file.format) : texts[column]);
            m_table->setItem(row, column, item);
        }
    }
    m_remove->setEnabled(m_table->currentRow() >= 0);
    QStringList lines;
    double ms = 0;
    if (latency.table())
        for (const LatencyRow& row : latency.table()->unmatched()) {
            lines << QStringLiteral("%1  %2").arg(formatMilliseconds(row.ms),
                                                  QString::fromStdString(row.name));
            ms += row.ms;
        }
    m_unmatchedText->setText(
        tr("Not counted, because they match no layer (%1 in total):").arg(formatMilliseconds(ms)));
    if (const QString text = lines.join(QLatin1Char('\n')); text != m_unmatched->toPlainText())
        m_unmatched->setPlainText(text);
    m_unmatchedText->setVisible(!lines.isEmpty());
    m_unmatched->setVisible(!lines.isEmpty());
    m_pendingPart->setVisible(m_pending.has_value());
    m_import->setEnabled(m_document.hasModel());
    m_measure->setEnabled(m_document.hasModel());
}

}  // namespace quantloupe::ui
