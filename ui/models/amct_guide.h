// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's tuning workflow of a document: where it is, which layers and parameters it proposes, and the measuring of those. GUI thread.

#include <QObject>
#include <QStringList>
#include <QTimer>

#include "document.h"
#include "models/amct_candidates.h"
#include "models/amct_variants.h"

namespace quantloupe::ui {

class AmctGuide : public QObject {
    Q_OBJECT
  public:
    explicit AmctGuide(Document* document, QObject* parent = nullptr);

    const AmctState& state();
    /// One of each reason; empty without layers.
    const std::vector<SkipCandidates>& candidates();
    const std::vector<AmctVariant>& variants();
    /// Nothing: it was not measured, or could not be.
    std::optional<AmctNumber> numberOf(const QuantizationConfig& config);
    bool tried(const QuantizationConfig& config);
    /// What the initial configuration has otherwise than AMCT's preset, in words.
    QStringList differences() const;

    /// Kept in the settings. A target that makes no sense is not taken.
    const AmctTarget& target() const { return m_target; }
    bool setTarget(const AmctTarget& target);

    /// Measures the variants that have no number yet, one by one, while nothing else is to be done; an edit ends it.
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
