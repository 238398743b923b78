// SPDX-License-Identifier: Apache-2.0
#include "models/layer_views.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>
#include <algorithm>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

const QString kViewsKey = QStringLiteral("layerTable/views");

std::optional<int> columnOfKey(const QString& key) {
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column)
        if (key == LayerTableModel::columnKey(column)) return column;
    return std::nullopt;
}

QString textOfView(const LayerView& view) {
    QJsonObject json{{QStringLiteral("name"), view.name},
                     {QStringLiteral("filter"), view.filter},
                     {QStringLiteral("sort"), LayerTableModel::columnKey(view.column)},
                     {QStringLiteral("descending"), view.order == Qt::DescendingOrder},
                     {QStringLiteral("all"), view.all}};
    if (view.hidden) {
        QJsonArray hidden;
        for (const int column : *view.hidden) hidden.append(LayerTableModel::columnKey(column));
        json.insert(QStringLiteral("hidden"), hidden);
    }
    return QString::fromUtf8(QJsonDocument(json).toJson(QJsonDocument::Compact));
}

std::optional<LayerView> readView(const QString& text) {
    const QJsonObject json = QJsonDocument::fromJson(text.toUtf8()).object();
    const QJsonValue filter = json.value(QStringLiteral("filter")),
                     hidden = json.value(QStringLiteral("hidden"));
    const auto column = columnOfKey(json.value(QStringLiteral("sort")).toString());
    LayerView view;
    view.name = json.value(QStringLiteral("name")).toString();
    if (view.name.trimmed().isEmpty() || !filter.isString() || !column) return std::nullopt;
    view.filter = filter.toString();
    view.column = *column;
    if (json.value(QStringLiteral("descending")).toBool()) view.order = Qt::DescendingOrder;
    view.all = json.value(QStringLiteral("all")).toBool();
    if (!hidden.isArray()) return view;
    view.hidden.emplace();
    const QJsonArray keys = hidden.toArray();
    for (const auto& key : keys)
        if (const auto known = columnOfKey(key.toString()); known && *known != LayerTableModel::Name)
            view.hidden->append(*known);
    return view;
}

bool isNamed(const QString& text, const QString& name) {
    const auto view = readView(text);
    return view && view->name == name;
}

}  // namespace

bool LayerView::shows(const LayerView& present) const {
    return filter.simplified() == present.filter.simplified() && column == present.column &&
           order == present.order && all == present.all &&
           (!hidden || !present.hidden || *hidden == *present.hidden);
}

QList<LayerView> builtInViews() {
    using Table = LayerTableModel;
    // The filter compares translated state names.
    const auto ofState = [](LayerState state) { return QStringLiteral("state:") + stateText(state); };
    return {
        {Words::tr("Most sensitive first"), {}, Table::LocalQs, Qt::DescendingOrder},
        {Words::tr("All layers"), {}, Table::Number, Qt::AscendingOrder, std::nullopt, true},
        {Words::tr("Quantized, most sensitive first"), ofState(LayerState::Quantized), Table::LocalQs,
         Qt::DescendingOrder},
        {Words::tr("Skipped"), ofState(LayerState::Skipped), Table::Number, Qt::AscendingOrder},
        {Words::tr("Not quantizable"), ofState(LayerState::Float), Table::Number, Qt::AscendingOrder},
        {Words::tr("Sensitive convolutions"), QStringLiteral("op:Conv qs>0.1"), Table::LocalQs,
         Qt::DescendingOrder},
        {Words::tr("Cosine below 0.99"), QStringLiteral("cosine<0.99"), Table::Cosine, Qt::AscendingOrder},
        {Words::tr("Accuracy gain when kept in float"), QStringLiteral("loo>0"), Table::LeaveOneOut,
         Qt::DescendingOrder},
        {Words::tr("Most weights first"), QStringLiteral("weights>0"), Table::Parameters,
         Qt::DescendingOrder}};
}

QList<LayerView> savedViews() {
    QList<LayerView> views;
    for (const QString& text : QSettings().value(kViewsKey).toStringList())
        if (const auto view = readView(text);
            view &&
            std::ranges::none_of(views, [&](const LayerView& known) { return known.name == view->name; }))
            views.append(*view);
    return views;
}

void saveView(const LayerView& view) {
    QStringList texts = QSettings().value(kViewsKey).toStringList();
    const auto same =
        std::ranges::find_if(texts, [&](const QString& text) { return isNamed(text, view.name); });
    if (same != texts.end())
        *same = textOfView(view);
    else
        texts.append(textOfView(view));
    QSettings().setValue(kViewsKey, texts);
}

void removeView(const QString& name) {
    QStringList texts = QSettings().value(kViewsKey).toStringList();
    texts.removeIf([&](const QString& text) { return isNamed(text, name); });
    QSettings().setValue(kViewsKey, texts);
}

}  // namespace quantloupe::ui
