// SPDX-License-Identifier: Apache-2.0
#include "session/project/task_json.h"

namespace quantloupe {
namespace {

template <typename Enum, std::size_t N>
Choices<Enum> choicesOf(const std::array<std::string_view, N>& names) {
    Choices<Enum> choices;
    for (std::size_t i = 0; i < N; ++i) choices.available.emplace_back(names[i], static_cast<Enum>(i));
    return choices;
}

std::filesystem::path pathOf(ObjectReader& reader, std::string_view key) {
    std::string path;
    reader.text(key, path);
    return path;
}

}  // namespace

OrderedJson taskToJson(const TaskSettings& task) {
    return {{"task", kTaskNames[static_cast<std::size_t>(task.task)]},
            {"labels", task.labels.generic_string()},
            {"class_names", task.classNames.generic_string()},
            {"decoder", task.decoder},
            {"class_output", task.classOutput},
            {"category_index", kCategoryIndexNames[static_cast<std::size_t>(task.categories)]}};
}

TaskSettings taskFromJson(ObjectReader reader) {
    static const Choices<Task> kTasks = choicesOf<Task>(kTaskNames);
    static const Choices<CategoryIndex> kIndices = choicesOf<CategoryIndex>(kCategoryIndexNames);
    TaskSettings task;
    reader.choice("task", task.task, kTasks);
    task.labels = pathOf(reader, "labels");
    task.classNames = pathOf(reader, "class_names");
    reader.text("decoder", task.decoder);
    reader.text("class_output", task.classOutput);
    reader.choice("category_index", task.categories, kIndices);
    reader.finish();
    return task;
}

}  // namespace quantloupe
