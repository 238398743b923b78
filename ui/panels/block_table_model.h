// SPDX-License-Identifier: Apache-2.0
#pragma once
// One matrix of repeated blocks with the numbers and colors of the metric that the graph shows.

#include <QAbstractTableModel>
#include <QString>

#include "graph/graph_canvas.h"
#include "models/block_matrix.h"

namespace quantloupe::ui {

class BlockTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    /// How a cell differs from most others.
    enum Mark { NoMark, InFloat, OtherPrecision };
    enum Role {
        ColorRole = Qt::UserRole,  ///< fill; invalid: the layer has no value
        MarkRole,                  ///< Mark as int
        StaleRole,                 ///< the number belongs to the previous configuration
    };

    BlockTableModel(Document* document, const GraphCanvas* canvas, QObject* parent = nullptr);
    void setMatrix(BlockMatrix matrix);
    const BlockMatrix& matrix() const { return m_matrix; }
    /// Returns the layer of a cell; invalid if the block has no such layer.
    NodeId layerAt(const QModelIndex& index) const;
    /// Returns the cell of a layer; invalid if the matrix does not contain it.
    QModelIndex indexOf(NodeId layer) const;
    /// Tells the views that states, numbers or colors have changed.
    void update();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    Mark markOf(const LayerResult& layer) const;
    QString numberOf(const LayerResult& layer) const;
    QString noteOf(const LayerResult& layer) const;
    QString toolTipOf(const QModelIndex& index, const LayerResult& layer) const;

    Document* m_document;
    const GraphCanvas* m_canvas;
    BlockMatrix m_matrix;
    std::map<NodeId, int> m_places;  ///< of the layers in the matrix
    QString m_precision;             ///< of most quantized layers of the matrix
};

}  // namespace quantloupe::ui
