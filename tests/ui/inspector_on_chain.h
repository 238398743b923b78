// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by tests of the inspector: it shows layers of the small network of ui_test_support.h.

#include <QComboBox>
#include <QPushButton>

#include "panels/inspector.h"
#include "panels/override_section.h"
#include "ui_test_support.h"

namespace quantloupe::test {

class InspectorOnChain {
  protected:
    /// Opens the network and shows the inspector; returns false if that fails.
    bool openInspector() {
        m_document = std::make_unique<ui::Document>();
        if (!openAndWait(*m_document, writeModel(m_folder))) return false;
        m_inspector = std::make_unique<ui::Inspector>(m_document.get());
        m_inspector->resize(420, 1800);
        m_inspector->show();
        return QTest::qWaitForWindowExposed(m_inspector.get());
    }
    void closeInspector() {
        m_inspector.reset();
        m_document.reset();
    }
    NodeId node(const char* name) const { return *m_document->graph()->findNode(name); }
    LayerSettings settings(const char* name) const {
        const auto& layers = m_document->config().layers;
        return layers.contains(name) ? layers.at(name) : LayerSettings{};
    }
    QComboBox* box(const char* name) const {
        for (QComboBox* box : m_inspector->findChildren<QComboBox*>())
            if (box->accessibleName() == QLatin1String(name)) return box;
        return nullptr;
    }
    /// By keyboard alone.
    static void choose(QComboBox* box, const QString& text) {
        box->setFocus();
        const int target = box->findText(text);
        QVERIFY2(target >= 0, qPrintable(text));
        if (box->currentIndex() < 0) QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < 40 && box->currentIndex() != target; ++i)
            QTest::keyClick(box, box->currentIndex() < target ? Qt::Key_Down : Qt::Key_Up);
        QCOMPARE(box->currentIndex(), target);
    }
    void click(const char* text) {
        for (QPushButton* button : m_inspector->overrides()->findChildren<QPushButton*>())
            if (button->text() == QLatin1String(text)) return QTest::mouseClick(button, Qt::LeftButton);
        QFAIL(text);
    }

    QTemporaryDir m_folder;
    std::unique_ptr<ui::Document> m_document;
    std::unique_ptr<ui::Inspector> m_inspector;
};

}  // namespace quantloupe::test
