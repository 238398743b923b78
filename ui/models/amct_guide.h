// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's tuning workflow of a document: the current step, the proposed layers and parameters, and their
// evaluation. GUI thread.

#include <QObject>
#include <QStringList>
#include <QTimer>

#include "document/document.h"
#include "models/amct_candidates.h"
#include "models/amct_variants.h"

namespace quantloupe::ui {

class AmctGuide : public QObject {
    Q_OBJECT
  public:
    explicit AmctGuide(Document* document, QObject* parent = nullptr);

    const AmctState& state();
    /// One per reason; empty without layers.
    const std::vector<SkipCandidates>& candidates();
    const std::vector<AmctVariant>& variants();
    /// Nothing if it was not evaluated or the evaluation failed.
    std::optional<AmctNumber> numberOf(const QuantizationConfig& config);
    bool tried(const QuantizationConfig& config);
    /// Describes how the initial configuration differs from AMCT's preset.
    QStringList differences() const;

    /// Stored in the settings. Ignores an invalid target.
    const AmctTarget& target() const { return m_target; }
    bool setTarget(const AmctTarget& target);

    /// Evaluates the variants without a result one by one when idle; an edit stops it.
    void tryVariants();
    void stopTrying();
    bool trying() const { return m_trying; }

  Q_SIGNALS:
    void changed();

  private:
    void outdate();
    void update();
    void forgetTrials();

    Document* m_document;
    AmctTarget m_target;
    AmctState m_state;
    std::vector<AmctMeasurement> m_measured, m_trials;
    std::vector<SkipCandidates> m_candidates;
    std::vector<AmctVariant> m_variants;
    QTimer m_tell;  ///< many things change at once
    bool m_outdated = true, m_trying = false;
};

}  // namespace quantloupe::ui
