// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by tests of a document on the network of color_data.h.

#include "color_data.h"

namespace quantloupe::test {

/// The document, evaluated with 4-bit weights. Tests inherit from it: writeImages() before the first test,
/// openDocument() before each.
class ColorDocument {
  protected:
    /// Also keeps the settings apart from the user's.
    void writeImages() {
        keepSettingsIn(m_folder);
        m_data = writeColors(m_folder);
    }
    /// Returns false unless the float network is right for all images and the quantized one for half of them.
    bool openDocument() {
        m_document = std::make_unique<ui::Document>();
        if (!openColors(*m_document, m_folder, m_data)) return false;
        const EvaluationPtr result = m_document->evaluation();
        const double floating = result->floating->top1.value_or(-1),
                     quantized = result->quantized->top1.value_or(-1);
        if (floating == 1.0 && quantized == 0.5) return true;
        qWarning("top-1: float %g, quantized %g", floating, quantized);
        return false;
    }
    /// Returns false after thirty seconds.
    template <typename Condition>
    static bool waitFor(Condition condition) {
        return QTest::qWaitFor(condition, 30000);
    }
    /// Waits until nothing is evaluated and the engine's queue is empty.
    bool evaluated() const {
        return waitFor([&] { return !m_document->evaluating() && !m_document->job()->busy(); });
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<ui::Document> m_document;
};

}  // namespace quantloupe::test
