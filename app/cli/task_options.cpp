// SPDX-License-Identifier: Apache-2.0
// Options for the task of the network and its labels.

#include "analysis/box_decoders.h"
#include "options.h"

namespace quantloupe::cli {

void OptionReader::addTask() {
    const auto names = [](const auto& list) { return std::vector<std::string>(list.begin(), list.end()); };
    path("--labels", m_options.task.labels,
         "Labels of the evaluation data: a list of classes, a COCO file, or a folder of label images");
    path("--class-names", m_options.task.classNames, "Names of the classes, one per line");
    oneOf("--task", names(kTaskNames), "The task of the network; default: the task that the labels are for",
          [this](std::size_t i) { m_options.task.task = static_cast<Task>(i); });
    std::vector<std::string> decoders = {"auto"};
    for (const BoxDecoder& decoder : boxDecoders()) decoders.emplace_back(decoder.name);
    oneOf("--decoder", decoders,
          "How boxes are decoded; default: chosen from the shapes and names of the outputs",
          [this, decoders](std::size_t i) { m_options.task.decoder = i == 0 ? std::string() : decoders[i]; });
    text("--class-output",
         "The output with the scores of the classes; default: the first vector, or one whose "
         "name contains logit, prob, score, softmax or class",
         [this](const std::string& value) { m_options.task.classOutput = value; })
        ->type_name("NAME");
    oneOf("--category-index", names(kCategoryIndexNames),
          "Whether class k of a detector is the k-th category of the COCO file or the one with the id k",
          [this](std::size_t i) { m_options.task.categories = static_cast<CategoryIndex>(i); });
}

}  // namespace quantloupe::cli
