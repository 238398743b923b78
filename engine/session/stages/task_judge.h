// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares the outputs with the labels of a graded task: boxes, label images, or one class per token.
// Internal to engine/session.

#include <map>

#include "analysis/box_decoders.h"
#include "analysis/coco_metrics.h"
#include "analysis/segmentation_metrics.h"
#include "analysis/token_metrics.h"
#include "data/dataset.h"
#include "results/evaluation.h"

namespace quantloupe {

/// The contributions of the samples to the metric, starting with the first sample.
struct TaskRecords {
    std::vector<ImageMatches> matches;  ///< detection
    std::vector<PixelCounts> pixels;    ///< segmentation
    std::vector<TokenCounts> tokens;
    std::vector<double> scores;  ///< the rate of the task for each sample alone; NaN without labels
    std::size_t bytes() const;
};

/// The objects or classes that a network predicts for a sample.
struct TaskPrediction {
    std::vector<Detection> detections;  ///< in pixels of the original image
    LabelImage map;                     ///< segmentation, in the resolution of the output
};

/// Returns whether the average precision of these samples can be computed: whether any label counts.
bool hasCountedBoxes(const Dataset& data);

/// Whether an output of the network may contain scores for each of these tokens, as far as its shape is
/// known.
bool hasTokenScores(const Graph& graph, std::size_t tokens);

class TaskJudge {
  public:
    /// Returns null if the task of the data is not graded (isGraded()). `data` must outlive the result.
    static std::shared_ptr<TaskJudge> create(const Dataset& data, InputSize input);

    Task task() const { return m_labels->task; }
    bool labeled() const { return m_labels->labeled; }
    const InputSize& input() const { return m_input; }
    /// Describes which outputs are decoded, and how, and what is strange about the labels; empty until the
    /// first sample.
    std::string notice() const;

    /// Decodes the outputs of a sample of a detector or a segmentation network. The first call chooses the
    /// decoder. `width` and `height` of the original image are used if the labels do not contain them. Throws
    /// Error if no decoder fits.
    TaskPrediction predict(std::size_t sample, const std::vector<OutputShape>& shapes,
                           const std::vector<SampleOutput>& outputs, int width = 0, int height = 0);
    /// Adds the next sample to the records.
    void judge(const std::vector<OutputShape>& shapes, const std::vector<SampleOutput>& outputs,
               TaskRecords& records);

    /// Computes the metrics of the first `samples` records. Needs labels. `reference`: the records of the
    /// float network.
    void measure(const TaskRecords& records, const TaskRecords& reference, std::size_t samples,
                 Accuracy& accuracy) const;
    TaskScores scores(const TaskRecords& records, std::size_t samples) const;

    /// Returns the position of an image of this size in the network's input.
    ImageGeometry geometry(int width, int height) const;
    /// Returns the labels of a sample in the resolution of `like`; empty without labels.
    LabelImage labelMap(std::size_t sample, const LabelImage& like) const;

  private:
    TaskJudge(const Dataset& data, InputSize input);
    void choose(const std::vector<OutputShape>& shapes);
    void chooseMap(const std::vector<OutputShape>& shapes);
    LabelImage predictedMap(const SampleOutput& output, const std::string& name);
    void chooseTokens(const std::vector<OutputShape>& shapes);
    void judgeTokens(const std::vector<SampleOutput>& outputs, TaskRecords& records);
    void assignCategories();

    const Dataset& m_data;
    std::shared_ptr<const TaskLabels> m_labels;
    InputSize m_input;
    ChosenDecoder m_decoder;    ///< detection
    std::size_t m_output = 0;   ///< segmentation and tokens: index of the output
    std::size_t m_classes = 0;  ///< segmentation; 0: the output contains classes
    TokenLayout m_tokens;
    /// Whether the outputs are probabilities: tokens, and segmentation with one channel. Empty until the
    /// first sample.
    std::optional<bool> m_probabilities;
    bool m_ignoresPixels = false;                            ///< whether the label images contain 255
    bool m_hasObjects = false;                               ///< whether they contain other classes than 0
    std::map<std::int32_t, std::int32_t> m_categoryOfClass;  ///< empty: the class itself
    std::string m_notice;
    bool m_chosen = false;
};

}  // namespace quantloupe
