// SPDX-License-Identifier: Apache-2.0
#include "models/flipped_model.h"

#include <QImageReader>

#include "analysis/task_metrics.h"
#include "document/metric.h"
#include "style/path_text.h"
#include "style/words.h"

namespace quantloupe::ui {

FlippedModel::FlippedModel(int thumbnailSize, QObject* parent)
    : QAbstractListModel(parent), m_size(thumbnailSize), m_thread(QStringLiteral("thumbnails")) {}

void FlippedModel::setEntries(std::vector<FlippedEntry> entries, const std::filesystem::path& folder) {
    beginResetModel();
    m_entries = std::move(entries);
    if (folder != m_folder) {
        m_pixmaps.clear();
        ++m_generation;
    }
    m_folder = folder;
    endResetModel();
}

int FlippedModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

QVariant FlippedModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || static_cast<std::size_t>(index.row()) >= m_entries.size()) return {};
    const FlippedEntry& entry = m_entries[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return entry.text;
        case Qt::ToolTipRole:
            return entry.toolTip;
        case Qt::DecorationRole: {
            const QString name = QString::fromStdString(entry.sample.name);
            if (!m_pixmaps.contains(name)) load(name);
            return m_pixmaps.value(name);
        }
        case SampleRole:
            return name(entry);
        default:
            return {};
    }
}

QString FlippedModel::name(const FlippedEntry& entry) { return QString::fromStdString(entry.sample.name); }

void FlippedModel::load(const QString& name) const {
    m_pixmaps.insert(name, {});
    const QString path = pathText(m_folder / name.toStdString());
    m_thread.post([this, name, path, size = m_size, generation = m_generation] {
        QImageReader reader(path);
        if (!reader.canRead()) return;
        const QSize whole = reader.size();
        if (whole.width() > size || whole.height() > size)
            reader.setScaledSize(whole.scaled(size, size, Qt::KeepAspectRatio));
        QImage image = reader.read();
        if (image.isNull()) return;
        if (image.width() < size && image.height() < size)
            image = image.scaled(size, size, Qt::KeepAspectRatio);
        m_thread.reply([this, name, image, generation] {
            if (generation != m_generation) return;
            m_pixmaps.insert(name, QPixmap::fromImage(image));
            auto* self = const_cast<FlippedModel*>(this);
            if (!m_entries.empty())
                Q_EMIT self->dataChanged(self->index(0), self->index(self->rowCount() - 1),
                                         {Qt::DecorationRole});
        });
    });
}

std::vector<FlippedEntry> entriesOf(const FlippedSamples& flipped) {
    const auto className = [&](std::int32_t id) {
        if (id == kNoClass) return Words::tr("none");
        const auto index = static_cast<std::size_t>(id);
        return id >= 0 && index < flipped.classNames.size()
                   ? QString::fromStdString(flipped.classNames[index])
                   : Words::tr("class %1").arg(id);
    };
    std::vector<FlippedEntry> entries;
    for (const FlippedSample& sample : flipped.samples) {
        FlippedEntry entry;
        entry.sample = sample.sample;
        if (sample.floating == -1 && !sample.floatScore) {
            entry.text = entry.toolTip = QString::fromStdString(sample.sample.name);
            entries.push_back(std::move(entry));
            continue;
        }
        if (sample.floatScore) {
            const QString before = formatRate(*sample.floatScore), after = formatRate(*sample.quantizedScore);
            entry.text = QStringLiteral("%1 \u2192 %2").arg(before, after);
            entry.toolTip = Words::tr("%1\nfloat: %2\nquantized: %3%4")
                                .arg(QString::fromStdString(sample.sample.name), before, after, QString());
            entries.push_back(std::move(entry));
            continue;
        }
        entry.text =
            QStringLiteral("%1 \u2192 %2").arg(className(sample.floating), className(sample.quantized));
        entry.toolTip =
            Words::tr("%1\nfloat: %2\nquantized: %3%4")
                .arg(QString::fromStdString(sample.sample.name), className(sample.floating),
                     className(sample.quantized),
                     sample.label ? Words::tr("\nlabel: ") + className(*sample.label) : QString());
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace quantloupe::ui
