// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by tests of a window on the network of block_model.h.

#include "block_model.h"
#include "window_test_support.h"

namespace quantloupe::test {

/// The window, and layers in its graph by name. Tests inherit from it: writeBlocks() before the first test,
/// openBlocks() before each.
class BlockWindow {
  protected:
    /// Also keeps the settings apart from the user's.
    void writeBlocks(std::size_t blocks) {
        keepSettingsIn(m_folder);
        m_path = writeBlockModel(m_folder.path().toStdString(), blocks);
    }
    /// Returns false if the model could not be opened.
    bool openBlocks(QSize size) {
        m_window = openWindow(m_path, size);
        return m_window != nullptr;
    }

    ui::Document* document() const { return m_window->document(); }
    ui::GraphCanvas* canvas() const { return m_window->graphView()->canvas(); }
    NodeId node(const QString& name) const {
        return document()->graph()->findNode(name.toStdString()).value();
    }
    std::size_t indexOf(const QString& name) const { return canvas()->index().boxOf(node(name)).value(); }
    const PictureNode& boxOf(const QString& name) const { return canvas()->picture()->nodes[indexOf(name)]; }
    const ui::NodeLook& lookOf(const QString& name) const { return canvas()->looks()[indexOf(name)]; }
    /// In the canvas, in pixels.
    QPointF middleOf(const QString& name) const {
        return canvas()->view()->transform().toView(ui::toRectF(boxOf(name).box).center());
    }
    void click(const QString& name, Qt::KeyboardModifiers modifiers = {}) {
        QTest::mouseClick(canvas(), Qt::LeftButton, modifiers, middleOf(name).toPoint());
    }
    /// The names of these layers, sorted.
    QStringList names(const std::vector<NodeId>& nodes) const {
        QStringList list;
        for (const NodeId id : nodes) list.append(QString::fromStdString(document()->graph()->node(id).name));
        list.sort();
        return list;
    }
    QStringList selected() const { return names(document()->selection()); }

    QTemporaryDir m_folder;
    std::filesystem::path m_path;
    std::unique_ptr<ui::MainWindow> m_window;
};

}  // namespace quantloupe::test
