// SPDX-License-Identifier: Apache-2.0
#include "panels/tune_finder.h"

#include <QGridLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "document/metric.h"
#include "models/tune_words.h"
#include "style/words.h"
#include "widgets/aligned_rows.h"

namespace quantloupe::ui {

namespace {

constexpr int kChipsInRow = 2;  // three are wider than the panel in a small window

double roundedToThreeDigits(double number) {
    const double step = number > 0 ? std::pow(10.0, std::floor(std::log10(number)) - 2) : 1;
    return std::round(number / step) * step;
}

}  // namespace

TuneFinder::TuneFinder(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    build();
    connect(m_limit, &NumberField::entered, this, &TuneFinder::enterLimit);
    connect(m_find, &QPushButton::clicked, this, &TuneFinder::find);
    connect(m_curve, &TuneCurve::taken, this, &TuneFinder::take);
    connect(m_curve, &TuneCurve::pointed, this, &TuneFinder::pointed);
    connect(m_curve, &TuneCurve::limitDragged, this, &TuneFinder::dragLimit);
    connect(m_curve, &TuneCurve::keepToggled, this, &TuneFinder::toggleKept);
    connect(&m_job, &SearchJob::progressed, this, &TuneFinder::tell);
    connect(&m_job, &SearchJob::improved, this, &TuneFinder::adopt);
    connect(&m_job, &SearchJob::finished, this, &TuneFinder::adopt);
    connect(&m_job, &SearchJob::failed, this, [this](const QString& text) {
        m_problem = sentence(text);
        refresh();
    });
    connect(&document->latency(), &LayerLatency::changed, this, &TuneFinder::showUsualCost);
    connect(document, &Document::configChanged, this, &TuneFinder::refresh);
    connect(document, &Document::evaluationChanged, this, &TuneFinder::refresh);
    const auto forgetAll = [this] {  // found with another network or on other samples
        m_kept.reset();
        m_curve->setKept(m_kept, {});
        forget();
    };
    connect(document, &Document::modelChanged, this, forgetAll);
    connect(document, &Document::dataChanged, this, forgetAll);
    connect(document, &Document::metricProgramChanged, this, [this, forgetAll] {
        m_drop = 1;  // it was in another unit
        forgetAll();
        showLimit();
    });
    showUsualCost();
    showLimit();
    refresh();
}

void TuneFinder::build() {
    const int unit = fontMetrics().height();
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 2);
    m_goal = new SegmentedControl({tr("drop"), tr("budget")}, true);
    m_goal->setCurrentIndex(0);
    rows->addWidget(
        makeRow(tr("Limit"), m_goal,
                tr("Maximum drop: the cheapest choice within this accuracy drop. Budget: the most "
                   "accurate choice within this cost")));
    m_limit = new NumberField(tr("Limit"));
    m_limit->setMaximumWidth(unit * 6);
    m_unit = makeLabel({}, "muted", 0.92);
    m_unit->setWordWrap(true);
    auto* limit = new QWidget;
    auto* fields = new QHBoxLayout(limit);
    fields->setContentsMargins(0, 0, 0, 0);
    fields->addWidget(m_limit);
    fields->addWidget(m_unit, 1);
    rows->addWidget(makeRow(tr("At most"), limit,
                            tr("If the outputs are not classes, a point of accuracy drop is 1 % of "
                               "relative error: 1 is an SQNR of 40 dB, 10 is an SQNR of 20 dB")));
    m_cost = new ChoiceBox(tr("Cost"));
    for (const CostKind kind : costKinds()) m_cost->addChoice(costTitle(kind), costMeaning(kind));
    rows->addWidget(
        makeRow(tr("Cost"), m_cost, tr("The cost that the search minimizes, or keeps within the budget")));
    rows->addWidget(makeRow(tr("Precisions"), buildPrecisions(),
                            tr("Precisions that a layer can have. Without integer precisions, layers keep "
                               "their present precision or move to float")));
    alignRows(this);
    m_find = new QPushButton;
    m_text = makeLabel({}, "faint", 0.92);
    m_text->setWordWrap(true);
    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_find);
    bottom->addStretch(1);
    rows->addLayout(bottom);
    rows->addWidget(m_text);
    m_curve = new TuneCurve([this](const std::string& name) { return m_document->layerName(name); });
    rows->addWidget(m_curve);
    connect(m_goal, &SegmentedControl::chosen, this, [this] {
        showLimit();
        if (m_found) adopt(*m_found);
    });
    connect(m_cost, &QComboBox::activated, this, [this] {
        m_costChosen = true;
        m_budget.reset();  // it was in another unit
        m_problem.clear();
        showLimit();
        refresh();
    });
}

QWidget* TuneFinder::buildPrecisions() {
    auto* place = new QWidget;
    auto* grid = new QGridLayout(place);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(fontMetrics().height() / 4);
    for (const char* name : kUsualPrecisions) {
        const Precision precision = precisionNamed(name);
        auto* chip = new QPushButton(precision.isInteger() ? QString::fromLatin1(name).toUpper()
                                                           : QString::fromLatin1(name));
        chip->setCheckable(true);
        chip->setProperty("chip", true);
        chip->setChecked(precision == Precision::float32());
        const int index = static_cast<int>(m_precisions.size());
        grid->addWidget(chip, index / kChipsInRow, index % kChipsInRow);
        m_precisions.emplace_back(precision, chip);
        connect(chip, &QPushButton::toggled, this, &TuneFinder::showUsualCost);
    }
    return place;
}

CostKind TuneFinder::cost() const {
    return costKinds()[static_cast<std::size_t>(std::max(0, m_cost->currentIndex()))];
}

CostKind TuneFinder::usualCost() const {
    const bool precisions = std::ranges::any_of(m_precisions, [](const auto& choice) {
        return choice.second->isChecked() && choice.first != Precision::float32();
    });
    return quantloupe::usualCost(precisions, m_document->latency().table() != nullptr);
}

void TuneFinder::showUsualCost() {
    const CostKind usual = usualCost();
    if (m_costChosen || finding() || cost() == usual) return;
    m_cost->setCurrentIndex(static_cast<int>(std::ranges::find(costKinds(), usual) - costKinds().begin()));
    m_budget.reset();  // it was in another unit
    showLimit();
}

void TuneFinder::showLimit() {
    m_limit->setValue(!hasBudget() ? numberText(m_drop)
                      : m_budget   ? amountText(cost(), *m_budget)
                                   : QString());
    showUnit();
}

void TuneFinder::showUnit() {
    m_unit->setText(hasBudget()                    ? costUnit(cost())
                    : metric() == TaskMetric::User ? tr("worse than float, in the unit of your metric")
                    : metric() == TaskMetric::Sqnr ? tr("% of relative error")
                                                   : tr("points below float"));
}

void TuneFinder::enterLimit(const QString& text) {
    if (hasBudget()) {
        const auto amount = parseAmount(text);
        if (!amount) return m_limit->setComplaint(tr("Enter a number, for example 12.5 or 1.5 M"));
        m_budget = amount;
    } else {
        bool isNumber = false;
        const double drop = QLocale::c().toDouble(text, &isNumber);
        if (metric() == TaskMetric::User) {
            if (!isNumber || !(drop >= 0)) return m_limit->setComplaint(tr("Enter a number of at least 0"));
        } else if (!isNumber || !(drop >= 0 && drop <= 100)) {
            return m_limit->setComplaint(tr("Enter a number from 0 to 100"));
        }
        m_drop = drop;
    }
    showLimit();
    if (m_found) adopt(*m_found);
}

/// Returns nothing if there is a problem, which refresh() shows.
std::optional<TuneOptions> TuneFinder::options() {
    TuneOptions options;
    options.cost = cost();
    options.latency = m_document->latency().table();
    if (options.cost == CostKind::Milliseconds && !options.latency) {
        m_problem = tr("Milliseconds need a latency profile: import or measure one in the Evaluation menu.");
        return std::nullopt;
    }
    if (hasBudget() && !m_budget) {
        m_limit->setComplaint(tr("Enter the largest cost"));
        m_problem = tr("Enter the largest cost, for example 12.5 or 1.5 M.");
        return std::nullopt;
    }
    options.maxDrop = hasBudget() ? std::numeric_limits<double>::infinity() : m_drop * dropUnit(metric());
    if (hasBudget()) options.budget = m_budget;
    for (const auto& [precision, chip] : m_precisions)
        if (chip->isChecked() && precision != Precision::float32()) options.precisions.push_back(precision);
    options.allowFloat = m_precisions.front().second->isChecked();
    if (!options.allowFloat && options.precisions.empty()) {
        m_problem = tr("Choose the precisions that layers can have.");
        return std::nullopt;
    }
    return options;
}

void TuneFinder::find() {
    if (finding()) return stop();
    m_problem.clear();
    const auto& opened = m_document->data();
    const auto wanted = options();
    if (!wanted || !opened || !m_document->model()) return refresh();
    m_from = m_document->config();
    m_foundFor = m_document->undoStack()->index() > 0 ? m_document->undoStack()->undoText() : tr("as opened");
    m_found.reset();
    m_job.start({*m_document->model(), opened->evaluationPath, opened->calibrationPath, opened->preprocess,
                 m_document->task(), m_from, m_document->metricProgram(), *wanted},
                m_document->job()->pausable());
    refresh();
    m_text->setText(tr("evaluating\u2026"));
}

/// Keeps the results found so far.
void TuneFinder::stop() {
    m_job.cancel();
    if (m_found) m_found->ended = TuneEnd::Cancelled;
    refresh();
}

void TuneFinder::forget() {
    m_job.cancel();
    m_found.reset();
    m_problem.clear();
    refresh();
}

void TuneFinder::tell(const TuneProgress& progress) {
    const QString part = tr("%1 of %2").arg(progress.done + 1).arg(progress.total);
    QString stage;
    switch (progress.stage) {
        case TuneStage::Transforms:
            stage = tr("trying transforms");
            break;
        case TuneStage::EarlyAnswer:
            stage = tr("most sensitive layers");
            break;
        case TuneStage::EachLayerAlone:
            stage = tr("each layer alone, %1").arg(part);
            break;
        case TuneStage::Adding:
            stage = tr("step %1").arg(progress.step);
            break;
        case TuneStage::Removing:
            stage = tr("removing layers, %1").arg(part);
            break;
        case TuneStage::Exchanging:
            stage = tr("exchanging layers, %1").arg(part);
            break;
        case TuneStage::FromAllFloat:
            stage = tr("starting from the most precise network, %1").arg(part);
            break;
        case TuneStage::Prefixes:
            stage = tr("comparing with rankings, %1").arg(part);
            break;
    }
    m_text->setText(tr("%1: %2").arg(stage, taskMetricText(metric(), progress.metric)));
}

TaskMetric TuneFinder::metric() const {
    if (m_document->metricProgram()) return TaskMetric::User;
    const EvaluationPtr evaluation = m_document->evaluation();
    return evaluation && evaluation->quantized ? taskMetric(*evaluation->quantized).metric : TaskMetric::Top1;
}

/// The limits may have changed since the search began.
void TuneFinder::choose(TuneResult& result) const {
    const bool sameCost = result.cost == cost();
    result.maxDrop = hasBudget() ? std::numeric_limits<double>::infinity() : m_drop * dropUnit(metric());
    result.budget = hasBudget() && sameCost ? m_budget : std::nullopt;
    choosePoint(result);
}

void TuneFinder::adopt(TuneResult found) {
    choose(found);
    m_found = std::move(found);
    m_curve->setResult(*m_found);
    refresh();
}

void TuneFinder::dragLimit(double at) {
    if (!m_found) return;
    if (hasBudget()) {
        m_budget = roundedToThreeDigits(amountOnAxis(*m_found, at));
    } else if (metric() == TaskMetric::User) {
        m_drop = roundedToThreeDigits(dropOnAxis(*m_found, at));
    } else {
        m_drop = std::clamp(std::round(1000 * dropOnAxis(*m_found, at)) / 10, 0.0, 100.0);
    }
    showLimit();
    adopt(*m_found);
}

void TuneFinder::toggleKept() {
    m_kept = m_kept ? std::nullopt : m_found;
    m_curve->setKept(m_kept, m_foundFor);
    refresh();
}

bool TuneFinder::isOfSearch() const {
    const auto has = [this](const std::optional<TuneResult>& result) {
        return result && std::ranges::any_of(result->curve, [this](const TunePoint& point) {
                   return point.config == m_document->config();
               });
    };
    return m_document->config() == m_from || has(m_found) || has(m_kept);
}

void TuneFinder::take(const TunePoint& point) {
    std::size_t changed = 0;
    for (const auto& [name, precision] : point.precisions) {
        const auto node = m_document->graph()->findNode(name);
        const LayerResult* layer = node ? m_document->layer(*node) : nullptr;
        changed += layer && changesPrecision(*layer, precision);
    }
    m_document->edit({point.config,
                      changed == 1 ? tr("Search: precision of 1 layer")
                                   : tr("Search: precisions of %1 layers").arg(changed),
                      {}});
}

void TuneFinder::refresh() {
    showUnit();  // the evaluation decides between points and relative error
    if (finding() != m_silenced) m_document->setQuiet(m_silenced = finding());
    const EvaluationPtr evaluation = m_document->evaluation();
    const bool random = evaluation && evaluation->randomInputs;
    const bool ready =
        m_document->hasModel() && m_document->data() && evaluation && evaluation->quantized && !random;
    m_find->setEnabled(ready || finding());
    m_find->setText(finding() ? tr("Stop") : tr("Search"));
    m_find->setToolTip(
        !m_document->data() || random
            ? tr("Needs data: accuracy on random inputs is meaningless")
            : tr("Evaluates choices on the evaluation samples, step by step. With at least 1,000 "
                 "samples, a third is held out to check the result. You can edit meanwhile; "
                 "the results so far can be applied at any time"));
    m_cost->setEnabled(!finding());
    m_goal->setEnabled(!finding());
    for (const auto& [precision, chip] : m_precisions) chip->setEnabled(!finding());
    m_curve->setVisible(m_found.has_value());
    m_curve->setCurrent(m_document->config());
    if (!finding()) showText();
    m_text->setVisible(!m_text->text().isEmpty());
}

void TuneFinder::showText() {
    QStringList parts;
    if (!m_problem.isEmpty()) parts << m_problem;
    if (m_found && !isOfSearch())
        parts << tr("Found for an earlier configuration: applying a point discards your edits since then.");
    if (m_found) parts << sentence(withMinusSigns(QString::fromStdString(describe(*m_found))));
    if (const QString hidden = m_curve->whyKeptIsHidden(); !hidden.isEmpty()) parts << hidden;
    m_text->setText(parts.join(QLatin1Char('\n')));
    setRole(m_text, m_problem.isEmpty() ? "faint" : "bad");
}

}  // namespace quantloupe::ui
