// SPDX-License-Identifier: Apache-2.0
#include "panels/work_tabs.h"

#include <QVBoxLayout>
#include <iterator>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

struct TabTexts {
    WorkTabs::Tab tab;
    const char* title;
    const char* command;
};

constexpr TabTexts kTabs[] = {
    {WorkTabs::Layers, QT_TRANSLATE_NOOP("Words", "Layers"), QT_TRANSLATE_NOOP("Words", "Show La&yers")},
    {WorkTabs::Blocks, QT_TRANSLATE_NOOP("Words", "Blocks"),
     QT_TRANSLATE_NOOP("Words", "Show Repeated Bloc&ks")},
    {WorkTabs::AccuracyPath, QT_TRANSLATE_NOOP("Words", "Loss by step"),
     QT_TRANSLATE_NOOP("Words", "S&how Accuracy Loss by Step")},
    {WorkTabs::Images, QT_TRANSLATE_NOOP("Words", "Images"),
     QT_TRANSLATE_NOOP("Words", "Show Changed I&mages")},
    {WorkTabs::Log, QT_TRANSLATE_NOOP("Words", "Log"), QT_TRANSLATE_NOOP("Words", "Show Lo&g")},
    {WorkTabs::Classes, QT_TRANSLATE_NOOP("Words", "Classes"), QT_TRANSLATE_NOOP("Words", "Show &Classes")},
    {WorkTabs::Notices, QT_TRANSLATE_NOOP("Words", "Notices (%1)"),
     QT_TRANSLATE_NOOP("Words", "Show &Notices")}};

static_assert([] {
    for (std::size_t i = 0; i < std::size(kTabs); ++i)
        if (kTabs[i].tab != static_cast<WorkTabs::Tab>(i)) return false;
    return std::size(kTabs) == WorkTabs::Count;
}());

}  // namespace

WorkTabs::WorkTabs(Document* document, LayerTable* layers, GraphCanvas* canvas, QWidget* parent)
    : QWidget(parent), m_document(document), m_layers(layers) {
    const int unit = fontMetrics().height();
    m_blocks = new BlockPanel(document, canvas);
    m_path = new AccuracyPathPanel(document);
    m_classes = new ClassesPanel(document);
    m_flipped = new FlippedPanel(document);
    m_log = new LogPanel(document);
    m_notices = new NoticesPanel(document);
    m_bar = new QTabBar;
    m_bar->setDrawBase(false);
    m_bar->setExpanding(false);
    m_bar->setAccessibleName(tr("Layers and results"));
    m_pages = new QStackedWidget;
    m_heads = new QStackedWidget;
    // The head of a hidden page must not make the row higher.
    m_heads->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    addTab(Layers, layers, layers->head());
    addTab(Blocks, m_blocks, m_blocks->head());
    addTab(AccuracyPath, m_path, new QWidget);
    addTab(Images, m_flipped, new QWidget);
    addTab(Log, m_log, m_log->head());
    addTab(Classes, m_classes, new QWidget);
    addTab(Notices, m_notices, new QWidget);
    m_bar->setTabToolTip(placeOf(Blocks), tr("Repeated blocks as a matrix of blocks and layers"));
    auto* head = new QFrame;
    head->setObjectName(QStringLiteral("panel"));
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(unit / 2, unit / 4, unit, unit / 4);
    row->setSpacing(unit / 2);
    row->addWidget(m_bar);
    row->addWidget(m_heads, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(head);
    column->addWidget(m_pages, 1);
    connect(m_bar, &QTabBar::currentChanged, this, [this](int place) {
        m_pages->setCurrentIndex(place);
        m_heads->setCurrentIndex(place);
        fitTabs();
    });
    connect(m_classes, &ClassesPanel::samplesChosen, this,
            [this](const QString& title, const std::vector<std::size_t>& samples) {
                m_flipped->showSamples(title, samples);
                showTab(Images);
            });
    connect(m_flipped, &FlippedPanel::layerChosen, this, &WorkTabs::layerChosen);
    connect(m_blocks, &BlockPanel::blocksChanged, this, &WorkTabs::updateTabs);
    connect(m_notices, &NoticesPanel::noticesChanged, this, &WorkTabs::updateTabs);
    for (const auto signal : {&Document::modelChanged, &Document::dataChanged, &Document::evaluationChanged})
        connect(document, signal, this, &WorkTabs::updateTabs);
    updateTabs();
}

QString WorkTabs::commandText(int tab) { return Words::tr(kTabs[tab].command); }

void WorkTabs::addTab(Tab tab, QWidget* page, QWidget* head) {
    m_bar->setTabData(m_bar->addTab(Words::tr(kTabs[tab].title)), tab);
    m_pages->addWidget(page);
    m_heads->addWidget(head);
}

int WorkTabs::placeOf(int tab) const {
    for (int place = 0; place < m_bar->count(); ++place)
        if (m_bar->tabData(place).toInt() == tab) return place;
    return -1;
}

/// Why there are neither images nor classes; empty if there are some, or if it is not known yet. Results of
/// an unfinished evaluation do not contain the classes, so those before it decide.
QString WorkTabs::whyNoResults() const {
    const EvaluationPtr evaluation = m_document->evaluation();
    if (!evaluation || !evaluation->quantized) return {};
    if (!evaluation->complete) return m_whyNoResults;
    if (evaluation->randomInputs) return tr("Random inputs have no classes. Open evaluation data first.");
    const auto& info = m_document->data();
    return (info && isGraded(info->task.task)) || (evaluation->classes && !evaluation->classes->empty()) ||
                   evaluation->scores
               ? QString()
               : tr("The outputs of this network are neither classes nor boxes nor masks.");
}

QString WorkTabs::whyNot(int tab) const {
    if (tab == Images || tab == Classes) return whyNoResults();
    if (tab == Blocks && !m_blocks->hasBlocks())
        return tr("The network does not have three blocks with the same structure.");
    if (tab == Notices && m_notices->notices().isEmpty()) return tr("The last evaluation has no notices.");
    return {};
}

void WorkTabs::updateTabs() {
    m_whyNoResults = whyNoResults();
    if (!whyNot(currentTab()).isEmpty()) showTab(Layers);
    for (const Tab tab : {Blocks, Images, Classes, Notices})
        m_bar->setTabVisible(placeOf(tab), whyNot(tab).isEmpty());
    // Also makes the bar forget the places of tabs that were hidden: setTabVisible() alone can leave a gap.
    m_bar->setTabText(placeOf(Notices), Words::tr(kTabs[Notices].title).arg(m_notices->notices().size()));
    fitTabs();
    Q_EMIT tabsChanged();
}

void WorkTabs::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitTabs();
}

/// Heads shrink before tabs do; if that is not enough, the tabs scroll. Hidden heads need no room.
void WorkTabs::fitTabs() {
    for (int place = 0; place < m_heads->count(); ++place)
        m_heads->widget(place)->setSizePolicy(
            place == m_heads->currentIndex() ? QSizePolicy::Preferred : QSizePolicy::Ignored,
            QSizePolicy::Preferred);
    const int tabs = m_bar->sizeHint().width(),
              rest = m_heads->minimumSizeHint().width() + fontMetrics().height() * 2;
    m_bar->setMinimumWidth(tabs + rest <= width() ? tabs : 0);
}

void WorkTabs::showTab(int tab) {
    if (whyNot(tab).isEmpty()) m_bar->setCurrentIndex(placeOf(tab));
}

void WorkTabs::focusTab() {
    if (currentTab() == Layers) m_layers->view()->setFocus(Qt::ShortcutFocusReason);
    if (currentTab() == Blocks) m_blocks->view()->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace quantloupe::ui
