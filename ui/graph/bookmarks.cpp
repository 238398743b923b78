// SPDX-License-Identifier: Apache-2.0
#include "graph/bookmarks.h"

#include <QInputDialog>
#include <QJsonObject>
#include <algorithm>

namespace quantloupe::ui {

namespace {

constexpr std::pair<Arrangement, const char*> kArrangements[] = {
    {Arrangement::Down, "down"}, {Arrangement::Columns, "columns"}, {Arrangement::Right, "right"}};

QString arrangementName(Arrangement arrangement) {
    for (const auto& [known, name] : kArrangements)
        if (known == arrangement) return QLatin1String(name);
    return {};
}

/// Projects of earlier versions contain "wrapped": true for columns.
Arrangement arrangementOf(const QJsonObject& mark) {
    for (const auto& [arrangement, name] : kArrangements)
        if (mark[QStringLiteral("arrangement")].toString() == QLatin1String(name)) return arrangement;
    return mark[QStringLiteral("wrapped")].toBool() ? Arrangement::Columns : Arrangement::Down;
}

QJsonArray namesJson(const std::vector<std::string>& names) {
    QJsonArray json;
    for (const std::string& name : names) json.append(QString::fromStdString(name));
    return json;
}

std::vector<std::string> namesFrom(const QJsonValue& json) {
    std::vector<std::string> names;
    const QJsonArray values = json.toArray();
    for (const auto& name : values)
        if (name.isString()) names.push_back(name.toString().toStdString());
    return names;
}

}  // namespace

Bookmarks::Bookmarks(Document* document, GraphCanvas* canvas, QObject* parent)
    : QObject(parent), m_document(document), m_canvas(canvas) {
    connect(document, &Document::modelChanged, this, [this] {
        m_bookmarks.clear();
        m_going.reset();
        fillMenu();
    });
    connect(document, &Document::pictureChanged, this, [this] {
        if (m_going && m_canvas->picture()) arrive();
    });
}

void Bookmarks::addTo(QMenu* menu) {
    m_menu = menu->addMenu(tr("Bookma&rks"));
    m_add = m_menu->addAction(tr("&Bookmark This View\u2026"));
    m_add->setShortcut(QKeySequence(QStringLiteral("Ctrl+B")));
    m_add->setToolTip(tr("Saves position, zoom, metric, collapsed blocks and selection in the project"));
    connect(m_add, &QAction::triggered, this, &Bookmarks::askForName);
    fillMenu();
}

void Bookmarks::fillMenu() {
    if (!m_menu) return;
    for (QAction* action : m_menu->actions())
        if (action != m_add) {
            if (action->menu()) action->menu()->deleteLater();
            m_menu->removeAction(action);
            action->deleteLater();
        }
    m_add->setEnabled(m_document->hasModel());
    if (m_bookmarks.empty()) return;
    m_menu->addSeparator();
    auto* removing = new QMenu(tr("&Remove"), m_menu);
    const auto entry = [](QMenu* menu, const QString& name) {
        QAction* action = menu->addAction(QString(name).replace(QLatin1Char('&'), QStringLiteral("&&")));
        action->setProperty("comesAndGoes", true);
        return action;
    };
    for (std::size_t i = 0; i < m_bookmarks.size(); ++i) {
        QAction* action = entry(m_menu, m_bookmarks[i].name);
        if (i < kWithKey) action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)));
        connect(action, &QAction::triggered, this, [this, i] { go(i); });
        connect(entry(removing, m_bookmarks[i].name), &QAction::triggered, this, [this, i] { remove(i); });
    }
    m_menu->addSeparator();
    m_menu->addMenu(removing);
}

/// "features.3 · QS local"
QString Bookmarks::proposal() const {
    const Bookmark now = seen({});
    const std::string layer = now.current.empty() ? now.at.toStdString() : now.current;
    return layer.empty()
               ? metricName(now.metric)
               : QStringLiteral("%1 \u00b7 %2").arg(m_document->layerName(layer), metricName(now.metric));
}

void Bookmarks::askForName() {
    if (!m_document->hasModel()) return;
    QInputDialog dialog(m_canvas);
    dialog.setWindowTitle(tr("Bookmark This View"));
    dialog.setLabelText(tr("Name"));
    dialog.setTextValue(proposal());
    // Wide enough for the proposed name.
    const QFontMetrics metrics = dialog.fontMetrics();
    dialog.resize(
        std::max(metrics.height() * 26, metrics.horizontalAdvance(proposal()) + metrics.height() * 6),
        dialog.sizeHint().height());
    const bool agreed = dialog.exec() == QDialog::Accepted;
    const QString name = dialog.textValue().trimmed();
    if (agreed && !name.isEmpty()) add(name);
}

Bookmark Bookmarks::seen(const QString& name) const {
    Bookmark mark;
    mark.name = name;
    mark.metric = m_canvas->metric();
    mark.zoom = m_canvas->transform().zoom;
    const LayoutOptions& options = m_document->layoutOptions();
    mark.collapsed = options.collapsed;
    mark.opened = options.opened;
    mark.arrangement = m_canvas->picture() ? m_canvas->picture()->arrangement : options.arrangement;
    mark.tidy = options.tidy;
    const Graph& graph = *m_document->graph();
    for (const NodeId node : m_document->selection()) mark.selected.push_back(graph.node(node).name);
    if (m_document->current().valid()) mark.current = graph.node(m_document->current()).name;
    if (const auto place = m_canvas->view()->placeInSight()) {
        mark.at = QString::fromStdString(graph.node(place->first).name);
        mark.aside = place->second;
    }
    return mark;
}

void Bookmarks::add(const QString& name) {
    const Bookmark mark = seen(name);
    const auto known = std::ranges::find(m_bookmarks, name, &Bookmark::name);
    if (known != m_bookmarks.end())
        *known = mark;
    else
        m_bookmarks.push_back(mark);
    m_document->markProjectChanged();
    fillMenu();
}

void Bookmarks::remove(std::size_t index) {
    if (index >= m_bookmarks.size()) return;
    m_bookmarks.erase(m_bookmarks.begin() + static_cast<std::ptrdiff_t>(index));
    m_document->markProjectChanged();
    fillMenu();
}

void Bookmarks::go(std::size_t index) {
    if (index >= m_bookmarks.size() || !m_document->hasModel()) return;
    m_going = m_bookmarks[index];
    LayoutOptions options = m_document->layoutOptions();
    options.collapsed = m_going->collapsed;
    options.opened = m_going->opened;
    options.arrangement = m_going->arrangement;
    options.tidy = m_going->tidy;
    // The bookmark stores the arrangement that is shown, not the automatic choice of the largest one.
    LayoutOptions shown = m_document->layoutOptions();
    if (m_canvas->picture()) shown.arrangement = m_canvas->picture()->arrangement;
    if (options == m_document->layoutOptions() || options == shown) return arrive();
    m_document->setLayoutOptions(options);
}

/// Ignores layers and blocks that no longer exist.
void Bookmarks::arrive() {
    const Bookmark mark = *std::exchange(m_going, std::nullopt);
    const Graph& graph = *m_document->graph();
    m_canvas->setMetric(mark.metric);
    std::vector<NodeId> selected;
    for (const std::string& name : mark.selected)
        if (const auto node = graph.findNode(name)) selected.push_back(*node);
    m_document->select(std::move(selected), graph.findNode(mark.current).value_or(NodeId()));
    if (const auto at = graph.findNode(mark.at.toStdString()))
        m_canvas->view()->showPlace(*at, mark.aside, mark.zoom);
}

QJsonArray Bookmarks::toJson() const {
    QJsonArray all;
    for (const Bookmark& mark : m_bookmarks)
        all.append(QJsonObject{{QStringLiteral("name"), mark.name},
                               {QStringLiteral("metric"), metricKey(mark.metric)},
                               {QStringLiteral("zoom"), mark.zoom},
                               {QStringLiteral("at"), mark.at},
                               {QStringLiteral("aside"), QJsonArray{mark.aside.x(), mark.aside.y()}},
                               {QStringLiteral("collapsed"), namesJson(mark.collapsed)},
                               {QStringLiteral("opened"), namesJson(mark.opened)},
                               {QStringLiteral("arrangement"), arrangementName(mark.arrangement)},
                               {QStringLiteral("tidy"), mark.tidy},
                               {QStringLiteral("selected"), namesJson(mark.selected)},
                               {QStringLiteral("current"), QString::fromStdString(mark.current)}});
    return all;
}

void Bookmarks::fromJson(const QJsonArray& json) {
    m_bookmarks.clear();
    for (const auto& value : json) {
        const QJsonObject object = value.toObject();
        Bookmark mark;
        mark.name = object[QStringLiteral("name")].toString();
        mark.zoom = object[QStringLiteral("zoom")].toDouble();
        if (mark.name.isEmpty() || !(mark.zoom > 0)) continue;
        mark.zoom = std::clamp(mark.zoom, ViewTransform::kMinZoom, ViewTransform::kMaxZoom);
        mark.metric = metricOfKey(object[QStringLiteral("metric")].toString()).value_or(mark.metric);
        mark.at = object[QStringLiteral("at")].toString();
        const QJsonArray aside = object[QStringLiteral("aside")].toArray();
        mark.aside = {aside.at(0).toDouble(), aside.at(1).toDouble()};
        mark.collapsed = namesFrom(object[QStringLiteral("collapsed")]);
        mark.opened = namesFrom(object[QStringLiteral("opened")]);
        mark.arrangement = arrangementOf(object);
        mark.tidy = object[QStringLiteral("tidy")].toBool();
        mark.selected = namesFrom(object[QStringLiteral("selected")]);
        mark.current = object[QStringLiteral("current")].toString().toStdString();
        m_bookmarks.push_back(std::move(mark));
    }
    fillMenu();
}

}  // namespace quantloupe::ui
