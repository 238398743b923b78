// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's tuning workflow for a document: the current step, the proposed layers and parameters, and their
// evaluation. GUI thread.

#include <QObject>
#include <QStringList>

#include "document/document.h"
#include "models/amct_candidates.h"
#include "models/amct_variants.h"

namespace quantloupe::ui {

class AmctGuide : public QObject {
    Q_OBJECT
  public:
    explicit AmctGuide(Document* document, QObject* parent = nullptr);

    const AmctState& state();
    /// Returns one entry per reason; empty without layers.
    const std::vector<SkipCandidates>& candidates();
    const std::vector<AmctVariant>& variants();
    /// Returns the result of a configuration; empty if it was not evaluated or the evaluation failed.
    std::optional<AmctNumber> numberOf(const QuantizationConfig& config);
    bool tried(const QuantizationConfig& config);
    /// Describes how the initial configuration differs from AMCT's preset.
    QStringList differences() const;

    /// The target, which is stored in the settings. Invalid targets are ignored.
    const AmctTarget& target() const { return m_target; }
    bool setTarget(const AmctTarget& target);

    /// When idle, evaluates the variants that have no result, one by one; an edit stops this.
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
    Delay m_tell{0};  ///< combines notifications, because many things change at once
    bool m_outdated = true, m_trying = false;
};

}  // namespace quantloupe::ui
