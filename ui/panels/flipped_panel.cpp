// SPDX-License-Identifier: Apache-2.0
#include "panels/flipped_panel.h"

#include <QDialog>
#include <QHelpEvent>
#include <QImageReader>
#include <QMouseEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "document/metric.h"
#include "models/headline.h"
#include "style/path_text.h"
#include "style/theme.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

/// Gives all images the same room, also those whose thumbnail has not been read yet.
class ThumbnailDelegate : public QStyledItemDelegate {
  public:
    ThumbnailDelegate(const QSize& size, QObject* parent) : QStyledItemDelegate(parent), m_size(size) {}
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return m_size; }

  private:
    QSize m_size;
};

}  // namespace

DivergencePlot::DivergencePlot(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setMinimumHeight(fontMetrics().height() * 2);
    setAccessibleName(tr("Error of each layer on this image"));
    setCursor(Qt::PointingHandCursor);
}

void DivergencePlot::setDivergence(const std::optional<SampleDivergence>& divergence) {
    m_divergence = divergence;
    update();
}

int DivergencePlot::layerAt(double x) const {
    if (!m_divergence || m_divergence->layers.empty()) return -1;
    const int count = static_cast<int>(m_divergence->layers.size());
    return std::clamp(static_cast<int>(x / std::max(1, width()) * count), 0, count - 1);
}

void DivergencePlot::paintEvent(QPaintEvent*) {
    if (!m_divergence || m_divergence->layers.empty()) return;
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    const auto& layers = m_divergence->layers;
    double most = 0;
    for (const auto& layer : layers)
        if (std::isfinite(layer.difference.qs)) most = std::max(most, layer.difference.qs);
    if (most <= 0) return;
    const double step = width() / static_cast<double>(layers.size()), floor = height() - 1.0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const double qs = layers[i].difference.qs;
        const double high = std::isfinite(qs) ? qs / most * (floor - 2) : floor - 2;
        const bool first = m_divergence->first && m_divergence->first->layer == i;
        painter.fillRect(
            QRectF(static_cast<double>(i) * step, floor - high, std::max(1.0, step - 1), std::max(1.0, high)),
            first ? colors.error : heatColor(std::isfinite(qs) ? qs / most : 1, colors.dark));
    }
    painter.setPen(colors.border);
    painter.drawLine(QPointF(0, floor), QPointF(width(), floor));
}

void DivergencePlot::mouseReleaseEvent(QMouseEvent* event) {
    if (const int layer = layerAt(event->position().x()); layer >= 0)
        Q_EMIT layerClicked(m_divergence->layers[static_cast<std::size_t>(layer)].node);
}

bool DivergencePlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int index = layerAt(help->pos().x()); index >= 0) {
            const auto& layer = m_divergence->layers[static_cast<std::size_t>(index)];
            QToolTip::showText(help->globalPos(),
                               tr("%1 (%2)\nerror on this image: %3")
                                   .arg(QString::fromStdString(layer.name), stateText(layer.state),
                                        formatQs(layer.difference.qs)),
                               this);
            return true;
        }
    }
    return QWidget::event(event);
}

FlippedPanel::FlippedPanel(Document* document, QWidget* parent)
    : QueryPanel(document, QuerySlot::FlippedSamples, parent) {
    const int unit = fontMetrics().height();
    const int size = unit * 4;
    m_model = new FlippedModel(size, this);
    m_view = new QListView;
    m_view->setModel(m_model);
    m_view->setViewMode(QListView::IconMode);
    m_view->setResizeMode(QListView::Adjust);
    m_view->setMovement(QListView::Static);
    m_view->setIconSize({size, size});
    m_view->setGridSize({unit * 8, size + unit * 2});
    m_view->setItemDelegate(new ThumbnailDelegate(m_view->gridSize(), m_view));
    m_view->setUniformItemSizes(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setAccessibleName(tr("Images whose predicted class changed"));
    m_summary = makeLabel({}, "muted");
    m_summary->setWordWrap(true);
    m_summary->setContentsMargins(unit, unit / 2, unit, 0);
    m_changed = new LinkButton;
    m_changed->setFullText(tr("show changed images"));
    m_changed->hide();
    m_side = new QFrame;
    m_side->setObjectName(QStringLiteral("panel"));
    m_side->setFixedWidth(unit * 22);
    auto* right = new QVBoxLayout(m_side);
    right->setContentsMargins(unit, unit / 2, unit, unit / 2);
    right->setSpacing(unit / 4);
    m_what = makeLabel({}, "muted");
    m_what->setWordWrap(true);
    right->addWidget(m_what);
    m_layer = new LinkButton;
    m_layer->hide();
    right->addWidget(m_layer);
    m_picture = new TaskPicture;
    m_picture->hide();
    right->addWidget(m_picture, 3);
    m_plot = new DivergencePlot;
    right->addWidget(m_plot, 1);
    m_side->hide();  // the images have all the room until one is clicked
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(m_view, 1);
    row->addWidget(m_side);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 3);
    rows->addWidget(m_summary);
    auto* link = new QHBoxLayout;
    link->setContentsMargins(unit, 0, unit, 0);
    link->addWidget(m_changed, 1, Qt::AlignLeft);
    rows->addLayout(link);
    rows->addLayout(row, 1);

    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &FlippedPanel::askDivergence);
    connect(m_changed, &QPushButton::clicked, this, [this] { showSamples({}, {}); });
    // The samples are those of the old data, and the layers those of the old model.
    const auto forget = [this] {
        forgetSample();
        if (!m_chosen.empty()) showSamples({}, {});
    };
    connect(document, &Document::modelChanged, this, forget);
    connect(document, &Document::dataChanged, this, forget);
    connect(m_picture, &TaskPicture::clicked, this, &FlippedPanel::enlargePicture);
    connect(m_plot, &DivergencePlot::layerClicked, this, &FlippedPanel::layerChosen);
    connect(m_layer, &QPushButton::clicked, this, [this] {
        if (m_divergence && m_divergence->first)
            Q_EMIT layerChosen(m_divergence->layers[m_divergence->first->layer].node);
    });
}

EvaluationJob::Query FlippedPanel::makeQuery(const QuantizationConfig& config) {
    return [this, config, chosen = m_chosen](Session& session,
                                             const CancelToken& cancel) -> std::function<void()> {
        FlippedSamples flipped = chosen.empty() ? flippedSamples(session, config, cancel)
                                                : chosenSamples(session, config, chosen, cancel);
        return [this, flipped = std::move(flipped)] { m_flipped = flipped; };
    };
}

void FlippedPanel::showSamples(const QString& title, const std::vector<std::size_t>& samples) {
    m_title = title;
    m_chosen = samples;
    m_changed->setVisible(!samples.empty());
    queryAgain();
}

void FlippedPanel::showAnswer(const QString& refusal) {
    if (!answered()) {
        m_flipped = {};
        m_side->hide();
    }
    std::vector<FlippedEntry> entries = entriesOf(m_flipped);
    const auto same = [](const FlippedEntry& a, const FlippedEntry& b) {
        return a.sample.index == b.sample.index && a.text == b.text && a.toolTip == b.toolTip;
    };
    if (!std::ranges::equal(entries, m_model->entries(), same)) {
        const QString kept = m_sample;
        m_model->setEntries(std::move(entries), document()->data() ? document()->data()->evaluationPath
                                                                   : std::filesystem::path());
        bool there = false;
        for (int i = 0; i < m_model->rowCount(); ++i)
            if (m_model->index(i).data(FlippedModel::SampleRole).toString() == kept) {
                m_view->setCurrentIndex(m_model->index(i));
                there = true;
            }
        if (answered() && !there && !kept.isEmpty()) {  // its class no longer changes
            forgetSample();
            m_sample.clear();
            m_side->hide();
        }
    }
    if (!refusal.isEmpty()) return m_summary->setText(sentence(refusal));
    if (!answered())
        return m_summary->setText(document()->hasModel() ? tr("Searching for changed images\u2026")
                                                         : QString());
    summarize();
    if (!stale() && !m_side->isHidden()) askDivergence();
}

/// Clears what is shown about the current image.
void FlippedPanel::forgetSample() {
    document()->job()->dropQuery(QuerySlot::Divergence);
    document()->job()->dropQuery(QuerySlot::Predictions);
    m_divergence.reset();
    m_what->clear();
    m_picture->hide();
    showDivergence();
}

void FlippedPanel::summarize() {
    const auto show = [this](const QString& text) {
        m_summary->setText(m_side->isHidden() && !m_flipped.samples.empty()
                               ? tr("%1. Click one to see the first layer that diverges.").arg(text)
                               : text);
    };
    const QString before = stale() ? tr(" \u00b7 for the previous configuration") : QString();
    const bool images = document()->dataKind() == DataKind::Images;
    const QString things = samplesWord(document()->dataKind());
    if (!m_chosen.empty())
        return show(QStringLiteral("%1: %2 %3%4")
                        .arg(m_title, formatNumber(m_flipped.samples.size()),
                             m_flipped.samples.size() != 1 ? things
                             : images                      ? tr("image")
                                                           : tr("sample"),
                             before));
    const auto count = [&](FlippedSample::Kind kind) {
        return static_cast<std::size_t>(std::ranges::count(m_flipped.samples, kind, &FlippedSample::kind));
    };
    const QString changed = formatNumber(m_flipped.samples.size()), all = formatNumber(m_flipped.evaluated);
    if (!m_flipped.samples.empty() && m_flipped.samples.front().floating == -1)
        return show(tr("%1 %2 without labels%3").arg(all, things, before));
    if (!m_flipped.samples.empty() && m_flipped.samples.front().floatScore)
        return show(
            tr("The score of %1 of %2 %3 changed, largest loss first%4").arg(changed, all, things, before));
    const QString text = tr("The predicted class changed for %1 of %2 %3").arg(changed, all, things);
    const auto labeled = [](const FlippedSample& sample) { return sample.label.has_value(); };
    if (std::ranges::none_of(m_flipped.samples, labeled)) return show(text + before);
    show(tr("%1: %2 correct only in float, %3 correct only when quantized, %4 other%5")
             .arg(text, formatNumber(count(FlippedSample::Kind::Broken)),
                  formatNumber(count(FlippedSample::Kind::Fixed)),
                  formatNumber(count(FlippedSample::Kind::Other)), before));
}

void FlippedPanel::askDivergence() {
    const QModelIndex index = m_view->currentIndex();
    if (!index.isValid()) return;
    if (m_side->isHidden()) {
        m_side->show();
        summarize();
    }
    const QString name = index.data(FlippedModel::SampleRole).toString();
    if (name != m_sample) forgetSample();
    m_sample = name;
    const std::size_t sample = m_model->entries()[static_cast<std::size_t>(index.row())].sample.index;
    const QuantizationConfig config = document()->config();
    askPredictions(sample, m_sample);
    document()->job()->query(
        QuerySlot::Divergence,
        [this, config, sample](Session& session, const CancelToken& cancel) -> std::function<void()> {
            const std::size_t place = findSample(session, std::to_string(sample));
            return [this, divergence = sampleDivergence(session, config, place, cancel)] {
                m_divergence = divergence;
                showDivergence();
            };
        },
        [this](const QString& refusal) { m_what->setText(sentence(refusal)); });
}

/// Shows boxes or masks if the network is a detector or a segmentation network.
void FlippedPanel::askPredictions(std::size_t sample, const QString& name) {
    const std::filesystem::path folder =
        document()->data() ? document()->data()->evaluationPath : std::filesystem::path();
    document()->job()->query(
        QuerySlot::Predictions,
        [this, config = document()->config(), sample, path = folder / name.toStdString()](
            Session& session, const CancelToken& cancel) -> std::function<void()> {
            if (!hasTaskPredictions(session)) return [this] { m_picture->hide(); };
            const QImage image = QImageReader(pathText(path)).read();
            const std::size_t place = findSample(session, std::to_string(sample));
            auto predictions = taskPredictions(session, config, place, image.width(), image.height(), cancel);
            return [this, image, predictions = std::move(predictions)] {
                m_image = image;
                m_picture->setPicture(image, predictions);
                m_picture->show();
            };
        },
        [this](const QString& refusal) {
            m_picture->hide();
            m_what->setText(sentence(refusal));
        });
}

void FlippedPanel::enlargePicture() {
    auto* window = new QDialog(this);
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->setWindowTitle(m_sample);
    auto* picture = new TaskPicture;
    picture->setPicture(m_image, m_picture->predictions());
    picture->setToolTip({});
    auto* column = new QVBoxLayout(window);
    column->addWidget(picture);
    resizeWithinScreen(window, QSize(70, 36) * fontMetrics().height());
    window->show();
}

void FlippedPanel::showDivergence() {
    auto shown = m_divergence;
    if (shown)
        for (auto& layer : shown->layers) layer.name = document()->names().of(layer.name);
    m_plot->setDivergence(shown);
    m_layer->setVisible(m_divergence && m_divergence->first);
    if (!m_divergence) return;
    m_what->setText(sentence(document()->withLayerNames(QString::fromStdString(describe(*m_divergence)))));
    if (m_divergence->first)
        m_layer->setFullText(tr("show ") +
                             document()->layerName(m_divergence->layers[m_divergence->first->layer].name));
}

}  // namespace quantloupe::ui
