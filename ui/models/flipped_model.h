// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples whose class quantization turned, as a list with thumbnails, which a thread of their own reads when they come into sight.

#include <QAbstractListModel>
#include <QHash>
#include <QPixmap>
#include <filesystem>

#include "jobs/worker_thread.h"
#include "session/compare_configs.h"

namespace quantloupe::ui {

/// One line of the list.
struct FlippedEntry {
    SampleId sample;
    QString text;     ///< "ship, not truck"
    QString toolTip;
    int kind = 0;     ///< 0: right before and wrong after; 1: the other way round; 2: neither
};

class FlippedModel : public QAbstractListModel {
    Q_OBJECT
  public:
    enum Role { KindRole = Qt::UserRole, SampleRole };
    explicit FlippedModel(int thumbnailSize, QObject* parent = nullptr);
    /// `folder` holds the images by the samples' names; others have no thumbnail.
    void setEntries(std::vector<FlippedEntry> entries, const std::filesystem::path& folder);
    const std::vector<FlippedEntry>& entries() const { return m_entries; }
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

  private:
    static QString name(const FlippedEntry& entry);
    void load(const QString& name) const;

    int m_size;
    std::vector<FlippedEntry> m_entries;
    std::filesystem::path m_folder;
    mutable QHash<QString, QPixmap> m_pixmaps;  ///< null while it is on its way
    quint64 m_generation = 0;
    mutable WorkerThread m_thread;
};

/// In the order of the samples' places.
std::vector<FlippedEntry> entriesOf(const FlippedSamples& flipped);

}  // namespace quantloupe::ui
