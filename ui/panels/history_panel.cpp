// SPDX-License-Identifier: Apache-2.0
#include "panels/history_panel.h"

#include <QApplication>
#include <QHeaderView>
#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "models/config_difference.h"
#include "models/headline.h"
#include "results/task_metric.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

enum Cost { kLayers, kMacs, kBytes };

QWidget* section(SectionHeading* heading, QWidget* body, const QString& key) {
    auto* box = new QFrame;
    box->setObjectName(QStringLiteral("panel"));
    const int unit = box->fontMetrics().height();
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(unit, unit / 3, unit, unit / 3);
    column->setSpacing(unit / 4);
    column->addWidget(heading);
    column->addWidget(body);
    heading->setBody(body, key);
    return box;
}

std::optional<double> costOf(const MeasuredConfig& entry, int kind) {
    if (kind == kLayers) return static_cast<double>(entry.counts.skipped + entry.counts.floating);
    if (!entry.cost || (kind == kMacs && !entry.cost->macsReason.empty())) return std::nullopt;
    return kind == kMacs ? static_cast<double>(entry.cost->macs) / 1e6
                         : static_cast<double>(entry.cost->bytes) / 1e6;
}

/// `own`: the user's metric, otherwise in percent or dB.
std::optional<double> valueOf(const MeasuredConfig& entry, bool own) {
    if (own) return entry.quantized.userMetric;
    if (const auto rate = meaningfulRate(entry.quantized)) return rate->value * 100;
    return entry.quantized.sqnrDb && std::isfinite(*entry.quantized.sqnrDb) ? entry.quantized.sqnrDb
                                                                            : std::nullopt;
}

}  // namespace

HistoryPanel::HistoryPanel(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    m_model = new HistoryModel(document, this);
    buildTable();
    m_hint = makeLabel(tr("Every evaluated configuration is listed here. Click one to go back to it; "
                          "Ctrl+click two to compare them."),
                       "faint", 0.92);
    m_hint->setWordWrap(true);
    m_hint->setContentsMargins(unit, unit / 2, unit, unit / 2);
    m_described = buildNote();
    m_compared = buildComparison();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_hint);
    column->addWidget(m_view, 3);
    column->addWidget(m_described);
    column->addWidget(m_compared, 2);
    column->addWidget(buildPlot());
    setMinimumWidth(unit * 17);
    setObjectName(QStringLiteral("panelBody"));
    setAttribute(Qt::WA_StyledBackground);
    m_described->hide();
    m_compared->hide();

    connect(m_model, &HistoryModel::updated, this, &HistoryPanel::refresh);
    // Other work has cancelled the comparison: it is repeated afterwards.
    connect(m_document->job(), &EvaluationJob::busyChanged, this, [this](bool busy) {
        if (!busy && m_comparing) selectionChanged();
    });
    connect(m_document->job(), &EvaluationJob::queriesDropped, this, [this](bool byOtherWork) {
        if (byOtherWork || !m_comparing) return;
        m_comparing = false;
        m_comparison->setText(tr("The comparison was cancelled."));
    });
    refresh();
}

void HistoryPanel::buildTable() {
    const int unit = fontMetrics().height();
    m_view = new QTableView;
    m_view->setModel(m_model);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setTabKeyNavigation(false);
    m_view->setTextElideMode(Qt::ElideMiddle);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(qRound(unit * 1.55));
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->horizontalHeader()->setSectionResizeMode(HistoryModel::Change, QHeaderView::Stretch);
    m_view->horizontalHeader()->setMinimumSectionSize(unit * 2);
    m_view->setColumnWidth(HistoryModel::Result, qRound(unit * 5.5));
    m_view->setColumnWidth(HistoryModel::Difference, unit * 5);
    m_view->setAccessibleName(tr("Evaluated configurations"));
    // With Ctrl or Shift, rows are selected for a comparison, which must not change the configuration.
    connect(m_view, &QTableView::clicked, this, [this](const QModelIndex& index) {
        if (QApplication::keyboardModifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) return;
        m_document->goBackTo(m_model->entryOf(index));
    });
    connect(m_view, &QTableView::activated, this,
            [this](const QModelIndex& index) { m_document->goBackTo(m_model->entryOf(index)); });
    connect(m_view, &QTableView::customContextMenuRequested, this, &HistoryPanel::showMenu);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &HistoryPanel::selectionChanged);
}

QWidget* HistoryPanel::buildNote() {
    auto* body = new QWidget;
    auto* rows = new QVBoxLayout(body);
    rows->setContentsMargins(0, 0, 0, 0);
    m_name = new QLineEdit;
    m_name->setPlaceholderText(tr("Name of this configuration"));
    m_name->setAccessibleName(m_name->placeholderText());
    m_note = new QLineEdit;
    m_note->setPlaceholderText(tr("Note"));
    m_note->setAccessibleName(m_note->placeholderText());
    rows->addWidget(m_name);
    rows->addWidget(m_note);
    const auto commit = [this] {
        const auto index = m_edited ? m_document->history().find(*m_edited) : std::nullopt;
        if (!index) return;
        const MeasuredConfig& entry = m_document->history().entries()[*index];
        if (m_name->text().trimmed().toStdString() != entry.name ||
            m_note->text().trimmed().toStdString() != entry.note)
            m_document->describeMeasured(*index, m_name->text(), m_note->text());
    };
    connect(m_name, &QLineEdit::editingFinished, this, commit);
    connect(m_note, &QLineEdit::editingFinished, this, commit);
    connect(m_document, &Document::typedTextWanted, this, commit);
    return section(new SectionHeading(tr("Name and note")), body, QStringLiteral("history.note"));
}

QWidget* HistoryPanel::buildComparison() {
    const int unit = fontMetrics().height();
    auto* body = new QWidget;
    body->setObjectName(QStringLiteral("panelBody"));
    auto* rows = new QVBoxLayout(body);
    rows->setContentsMargins(0, 0, 0, 0);
    m_comparison = makeLabel({}, "");
    m_comparison->setWordWrap(true);
    m_words = makeLabel({}, "muted", 0.92);
    m_words->setWordWrap(true);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* scroll = new PanelScrollArea;
    scroll->setWidget(m_words);
    m_words->setAlignment(Qt::AlignTop);
    m_flips = new FlippedModel(unit * 3, this);
    m_flipView = new QListView;
    m_flipView->setModel(m_flips);
    m_flipView->setViewMode(QListView::IconMode);
    m_flipView->setIconSize({unit * 3, unit * 3});
    m_flipView->setGridSize({unit * 5, unit * 5});
    m_flipView->setMovement(QListView::Static);
    m_flipView->setResizeMode(QListView::Adjust);
    m_flipView->setFixedHeight(unit * 6);
    m_flipView->setAccessibleName(tr("Images that differ between the two"));
    rows->addWidget(m_comparison);
    rows->addWidget(scroll, 1);
    rows->addWidget(m_flipView);
    return section(new SectionHeading(tr("Comparison")), body, QStringLiteral("history.comparison"));
}

QWidget* HistoryPanel::buildPlot() {
    auto* body = new QWidget;
    auto* rows = new QVBoxLayout(body);
    rows->setContentsMargins(0, 0, 0, 0);
    m_cost = new SegmentedControl({tr("layers"), tr("MACs"), tr("bytes")});
    m_cost->setCurrentIndex(kMacs);
    m_plot = new TradeOffPlot;
    m_plot->setFixedHeight(fontMetrics().height() * 10);
    rows->addWidget(m_cost);
    rows->addWidget(m_plot);
    connect(m_cost, &SegmentedControl::chosen, this, &HistoryPanel::refreshPlot);
    connect(m_plot, &TradeOffPlot::chosen, this, [this](std::size_t entry) { m_document->goBackTo(entry); });
    return section(new SectionHeading(tr("Accuracy against cost")), body, QStringLiteral("history.plot"));
}

std::vector<std::size_t> HistoryPanel::selectedEntries() const {
    std::vector<std::size_t> entries;
    for (const QModelIndex& index : m_view->selectionModel()->selectedRows())
        entries.push_back(m_model->entryOf(index));
    std::ranges::sort(entries);
    return entries;
}

void HistoryPanel::selectionChanged() {
    const std::vector<std::size_t> entries = selectedEntries();
    if (entries.size() == 2) {
        compare(entries[0], entries[1]);
    } else {
        m_compared->hide();
        m_comparing = false;
        m_document->job()->dropQuery(QuerySlot::Comparison);
    }
    m_described->setVisible(entries.size() == 1);
    if (entries.size() != 1) return;
    const MeasuredConfig& entry = m_document->history().entries()[entries[0]];
    if (m_edited == entry.version && (m_name->hasFocus() || m_note->hasFocus())) return;
    m_edited = entry.version;
    m_name->setText(QString::fromStdString(entry.name));
    m_note->setText(QString::fromStdString(entry.note));
}

/// The newer configuration is compared with the older one.
void HistoryPanel::compare(std::size_t before, std::size_t after) {
    const MeasuredConfig &a = m_document->history().entries()[before],
                         &b = m_document->history().entries()[after];
    const QStringList lines = configDifference(a.config, b.config);
    m_words->setText(lines.isEmpty() ? tr("The configurations are the same.")
                                     : m_document->withLayerNames(lines.join(QLatin1Char('\n'))));
    m_comparison->setText(tr("comparing on the same images\u2026"));
    m_flips->setEntries({}, {});
    m_flipView->hide();
    m_compared->show();
    m_comparing = true;
    m_document->job()->query(
        QuerySlot::Comparison,
        [this, one = a.config, other = b.config](Session& session,
                                                 const CancelToken& cancel) -> std::function<void()> {
            return [this, result = compareConfigs(session, one, other, {}, cancel)] {
                m_comparing = false;
                m_comparison->setText(sentence(
                    withMinusSigns(m_document->withLayerNames(QString::fromStdString(result.text)))));
                std::vector<FlippedEntry> flips;
                for (const SampleId& sample : result.broken)
                    flips.push_back({sample, tr("broken"), QString::fromStdString(sample.name)});
                for (const SampleId& sample : result.fixed)
                    flips.push_back({sample, tr("fixed"), QString::fromStdString(sample.name)});
                m_flipView->setVisible(!flips.empty());
                m_flips->setEntries(std::move(flips), m_document->data() ? m_document->data()->evaluationPath
                                                                         : std::filesystem::path());
            };
        },
        [this](const QString& refusal) {
            m_comparing = false;
            m_comparison->setText(sentence(refusal));
        });
}

void HistoryPanel::refresh() {
    m_hint->setVisible(m_model->rowCount() < 2);
    if (selectedEntries().size() < 2) selectionChanged();  // keeps a comparison
    refreshPlot();
}

void HistoryPanel::refreshPlot() {
    const auto& entries = m_document->history().entries();
    const auto current = m_document->history().findConfig(m_document->config());
    std::vector<TradeOffPoint> points;
    const bool own = m_document->metricProgram().has_value();
    bool rates = true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto cost = costOf(entries[i], m_cost->currentIndex());
        const auto value = valueOf(entries[i], own);
        if (!cost || !value || !m_document->isComparable(entries[i])) continue;
        rates = rates && meaningfulRate(entries[i].quantized);
        const QString name = m_document->withLayerNames(
            QString::fromStdString(entries[i].name.empty() ? entries[i].change : entries[i].name));
        const QString number = own ? formatOwnMetric(*value) : QString::number(*value, 'f', 1);
        points.push_back({*cost, *value, name + QLatin1Char('\n') + number, current == i,
                          entries[i].version == m_document->history().baseline(), i});
    }
    static const QString kNames[] = {tr("layers in float"), tr("million MACs in float"),
                                     tr("MB of float weights")};
    const auto& program = m_document->metricProgram();
    m_plot->setPoints(std::move(points), kNames[std::max(0, m_cost->currentIndex())],
                      {own     ? tr("metric")
                       : rates ? tr("accuracy, %")
                               : tr("SQNR, dB"),
                       own, own && program->lowerIsBetter});
}

void HistoryPanel::showMenu(QPoint at) {
    const QModelIndex index = m_view->indexAt(at);
    if (!index.isValid()) return;
    const std::size_t entry = m_model->entryOf(index);
    const bool pinned = m_document->history().entries()[entry].version == m_document->history().baseline();
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("&Go Back to This")), &QAction::triggered, this,
            [this, entry] { m_document->goBackTo(entry); });
    connect(menu->addAction(pinned ? tr("Un&pin Baseline") : tr("&Pin as Baseline")), &QAction::triggered,
            this, [this, entry] { m_document->pinBaseline(entry); });
    connect(menu->addAction(tr("Edit &Name and Note")), &QAction::triggered, this, [this, index] {
        m_view->selectRow(index.row());
        m_name->setFocus();
        m_name->selectAll();
    });
    menu->popup(m_view->viewport()->mapToGlobal(at));
}

}  // namespace quantloupe::ui
