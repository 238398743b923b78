// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of each class and the confusion matrix, for the reports and the command line.

#include <string>

#include "base/json.h"
#include "results/evaluation.h"

namespace quantloupe {

/// {"class_metric", "classes", "confusion"}; empty without labels. `confusion` has one entry per pair of
/// label and predicted class that occurs, with the number of samples in float and quantized.
OrderedJson classesJson(const Evaluation& evaluation);
/// A heading and tables, the matrix for up to 30 classes; empty without labels.
std::string classesHtml(const Evaluation& evaluation);
/// A heading and tables of the ten classes that lose most and of the ten most frequent new confusions; empty
/// without labels.
std::string classesMarkdown(const Evaluation& evaluation);

}  // namespace quantloupe
