// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples whose predicted class changed, as a list with thumbnails, which a separate thread loads when they
// become visible.

#include <QAbstractListModel>
#include <QHash>
#include <QPixmap>
#include <filesystem>

#include "jobs/worker_thread.h"
#include "session/studies/compare_configs.h"

namespace quantloupe::ui {

/// One line of the list.
struct FlippedEntry {
    SampleId sample;
    QString text;  ///< "ship → truck"
    QString toolTip;
};

class FlippedModel : public QAbstractListModel {
    Q_OBJECT
  public:
    enum Role { SampleRole = Qt::UserRole };
    explicit FlippedModel(int thumbnailSize, QObject* parent = nullptr);
    /// `folder` contains the images, named like the samples; samples without an image have no thumbnail.
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
    mutable QHash<QString, QPixmap> m_pixmaps;  ///< null while it is being loaded
    quint64 m_generation = 0;
    mutable WorkerThread m_thread;
};

/// Returns one entry per sample, in the order of the samples.
std::vector<FlippedEntry> entriesOf(const FlippedSamples& flipped);

}  // namespace quantloupe::ui
