// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's five-step manual tuning as a checklist (models/amct_workflow.h). The next step is expanded; a click
// expands another step.

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <array>

#include "models/amct_guide.h"
#include "widgets/basics.h"
#include "widgets/number_field.h"
#include "widgets/step_head.h"

namespace quantloupe::ui {

/// The part of the tuning panel that a step refers to.
enum class TuningPlace { Ranges, WeightScales };

class AmctPanel : public PanelScrollArea {
    Q_OBJECT
  public:
    explicit AmctPanel(Document* document, QWidget* parent = nullptr);

    AmctGuide* guide() { return &m_guide; }
    StepHead* head(AmctStep step) const { return m_heads[static_cast<std::size_t>(step)]; }
    bool isOpen(AmctStep step) const { return !m_bodies[static_cast<std::size_t>(step)]->isHidden(); }
    QString verdict() const { return m_verdict->text(); }
    /// Wide enough for its texts, so that nothing scrolls horizontally.
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void layersChosen(std::vector<quantloupe::NodeId> layers);
    void tuningRequested(quantloupe::ui::TuningPlace place);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    struct CandidateRow {
        QLabel *title, *note;
        QPushButton *select, *skip;
    };
    void build();
    QWidget* buildTarget();
    // amct_panel_steps.cpp
    void buildInitial(QVBoxLayout* rows);
    void buildSkip(QVBoxLayout* rows);
    void buildParameters(QVBoxLayout* rows);
    void refreshInitial();
    void refreshSkip();
    void refreshParameters();
    // amct_panel_verdict.cpp
    void buildVerdict(QVBoxLayout* rows);
    void refreshVerdict();
    QLabel* addText(QVBoxLayout* rows, const QString& text = {});
    void refresh();
    void open(AmctStep step);
    void enterTarget(const QString& text);
    bool inDecibels();

    Document* m_document;
    AmctGuide m_guide;
    NumberField* m_target;
    QLabel *m_targetLabel, *m_unit, *m_verdict;
    QFrame* m_verdictCard;
    std::array<StepHead*, kAmctSteps> m_heads{};
    std::array<QWidget*, kAmctSteps> m_bodies{};
    QLabel *m_initialText = nullptr, *m_judgeText = nullptr, *m_verdictText = nullptr, *m_tryText = nullptr;
    QPushButton *m_usePreset = nullptr, *m_try = nullptr, *m_remove = nullptr;
    std::array<CandidateRow, 4> m_candidates{};
    QVBoxLayout* m_variants = nullptr;
    QString m_variantsShown;  ///< shown variants; the rows are only rebuilt if they change
    std::optional<AmctStep> m_present;
};

/// Formats the effect of quantization: "-2.3", "21.3 dB".
QString amctNumberText(const AmctNumber& number);
/// Describes the effect of quantization: "loses 2.3 points".
QString amctNumberWords(const AmctNumber& number);
/// Returns the number of layers that step 2 could still skip; a layer in several groups counts once.
std::size_t amctLayersLeft(const std::vector<SkipCandidates>& groups);
/// Describes what to do next if the network is not good enough. Does not just repeat the name of a step that
/// is already done.
QString amctNextWords(const AmctState& state);

}  // namespace quantloupe::ui
