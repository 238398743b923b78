// SPDX-License-Identifier: Apache-2.0
#include "data/labeled_dataset.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/input_file.h"
#include "base/rethrow.h"
#include "base/short_text.h"
#include "data/class_list.h"
#include "data/with_thousands.h"

namespace quantloupe {
namespace {

namespace fs = std::filesystem;

class LabeledDataset : public DatasetView {
  public:
    /// `classes`: of each sample, instead of those in the data; may be empty, like `annotations`.
    LabeledDataset(DatasetPtr dataset, std::shared_ptr<const TaskLabels> labels,
                   std::vector<SampleAnnotation> annotations, std::vector<int> classes,
                   std::vector<std::string> classNames, std::string notice)
        : DatasetView(std::move(dataset)),
          m_labels(std::move(labels)),
          m_annotations(std::move(annotations)),
          m_classes(std::move(classes)),
          m_classNames(std::move(classNames)),
          m_notice(std::move(notice)) {
        VersionBuilder version;
        version.add("labeled").add(m_dataset->version());
        version.add(kTaskNames[static_cast<std::size_t>(m_labels->task)]).add(m_labels->settings.decoder);
        version.add(kCategoryIndexNames[static_cast<std::size_t>(m_labels->settings.categories)]);
        version.add(m_labels->settings.classOutput);
        for (const std::string& name : m_classNames) version.add(name);
        for (const Category& category : m_labels->categories) version.add(category.id).add(category.name);
        for (const SampleAnnotation& annotation : m_annotations) add(version, annotation);
        for (const int label : m_classes) version.add(label);
        m_version = version.finish();
    }

    std::optional<int> label(std::size_t index) const override {
        return m_classes.empty() ? m_dataset->label(index) : m_classes[index];
    }
    const std::vector<std::string>& classNames() const override { return m_classNames; }
    std::shared_ptr<const TaskLabels> taskLabels() const override { return m_labels; }
    const SampleAnnotation* annotation(std::size_t index) const override {
        return m_annotations.empty() ? m_dataset->annotation(index) : &m_annotations[index];
    }
    std::string description() const override {
        std::string text = m_dataset->description();
        if (m_labels->task == Task::Detection && m_labels->labeled) {
            std::size_t boxes = 0;
            for (const SampleAnnotation& annotation : m_annotations) boxes += annotation.boxes.size();
            text += fmt::format(" with {} labeled boxes", withThousands(boxes));
        } else if (m_labels->labeled) {
            text += " with label images";
        } else if (!m_classes.empty()) {
            const std::size_t different = std::set<int>(m_classes.begin(), m_classes.end()).size();
            text += fmt::format(" with labels of {} {}", withThousands(different),
                                different == 1 ? "class" : "classes");
        }
        return text;
    }
    std::string notice() const override {
        const std::string other = m_dataset->notice();
        return other + (other.empty() || m_notice.empty() ? "" : "\n") + m_notice;
    }
    Version version() const override { return m_version; }

  private:
    static void add(VersionBuilder& version, const SampleAnnotation& annotation) {
        version.add(annotation.image).add(annotation.width).add(annotation.height);
        for (const LabeledBox& box : annotation.boxes) {
            const double numbers[] = {box.x, box.y, box.width, box.height, box.area};
            version.addBytes(numbers, sizeof numbers);
            version.add(box.crowd).add(static_cast<std::uint64_t>(box.category));
        }
        if (annotation.labelImage.empty()) return;
        requireRegularFile(annotation.labelImage);
        const fs::directory_entry file(annotation.labelImage);
        version.add(file.path().string()).add(static_cast<std::uint64_t>(file.file_size()));
        version.add(file.last_write_time().time_since_epoch().count());
    }

    std::shared_ptr<const TaskLabels> m_labels;
    std::vector<SampleAnnotation> m_annotations;
    std::vector<int> m_classes;
    std::vector<std::string> m_classNames;
    std::string m_notice;
    Version m_version;
};

/// Throws Error unless the number of labels is the number of samples of the array.
void requireOnePerRow(const Dataset& data, std::size_t labels, const char* what) {
    if (labels != data.size())
        failInput(
            "the data has {} samples without file names but there are {} {}: they are matched by position, "
            "so their numbers must be equal",
            data.size(), labels, what);
}

/// Returns a notice if many boxes extend beyond their images. Some tools write two corners, and some files
/// have the sizes of other images.
std::string boxesBeyondImages(const CocoFile& file) {
    constexpr double kMargin = 2;         // pixels; labels are often rounded
    constexpr double kAcceptable = 0.05;  // of the boxes
    std::size_t boxes = 0, beyond = 0;
    std::string example;
    for (const CocoFile::Labeled& image : file.images) {
        const SampleAnnotation& annotation = image.annotation;
        for (const LabeledBox& box : annotation.boxes) {
            ++boxes;
            if (box.x >= -kMargin && box.y >= -kMargin && box.x + box.width <= annotation.width + kMargin &&
                box.y + box.height <= annotation.height + kMargin)
                continue;
            ++beyond;
            if (example.empty())
                example =
                    fmt::format("[{:g}, {:g}, {:g}, {:g}] in '{}' of {} × {} pixels", box.x, box.y, box.width,
                                box.height, shortName(image.fileName), annotation.width, annotation.height);
        }
    }
    if (static_cast<double>(beyond) <= kAcceptable * static_cast<double>(boxes)) return {};
    return fmt::format(
        "{} of {} boxes extend beyond their images, for example {}: COCO's boxes are [x, y, width, height], "
        "not two corners, and 'width' and 'height' of an image are those that its boxes refer to",
        beyond, boxes, example);
}

std::vector<SampleAnnotation> cocoAnnotations(const Dataset& data, CocoFile file, bool named) {
    std::vector<SampleAnnotation> annotations;
    if (!named) {
        requireOnePerRow(data, file.images.size(), "images in the file");
        for (CocoFile::Labeled& image : file.images) annotations.push_back(std::move(image.annotation));
        return annotations;
    }
    std::unordered_map<std::string, const SampleAnnotation*> byPath;
    for (const CocoFile::Labeled& image : file.images)
        if (const auto [known, added] = byPath.emplace(image.fileName, &image.annotation); !added)
            failInput("the images with the ids {} and {} have the same file_name '{}'", known->second->image,
                      image.annotation.image, image.fileName);
    std::unordered_map<const SampleAnnotation*, std::string> sampleOf;
    for (std::size_t s = 0; s < data.size(); ++s) {
        const std::string name = data.sampleName(s);
        auto found = byPath.find(name);
        if (found == byPath.end()) found = byPath.find(fs::path(name).filename().generic_string());
        if (found == byPath.end())
            failInput(
                "no image of the file has the file_name '{}': every image of the data needs an entry in "
                "'images', even without objects",
                name);
        if (const auto [other, added] = sampleOf.emplace(found->second, name); !added)
            failInput(
                "the images '{}' and '{}' both belong to the entry with the file_name '{}': give each image "
                "an entry whose file_name is its path in the data folder",
                other->second, name, found->first);
        annotations.push_back(*found->second);
    }
    return annotations;
}

std::vector<SampleAnnotation> labelImages(const Dataset& data, const fs::path& folder, bool named) {
    std::vector<SampleAnnotation> annotations(data.size());
    for (std::size_t s = 0; s < data.size(); ++s) annotations[s].image = static_cast<std::int64_t>(s);
    if (!named) {
        std::vector<fs::path> files;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".png") files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        requireOnePerRow(data, files.size(), ".png files in the folder");
        for (std::size_t s = 0; s < files.size(); ++s) annotations[s].labelImage = files[s];
        return annotations;
    }
    for (std::size_t s = 0; s < data.size(); ++s) {
        const fs::path name = fs::path(data.sampleName(s)).replace_extension(".png");
        fs::path file = folder / name;
        if (!fs::exists(file)) file = folder / name.filename();
        if (!fs::exists(file))
            failInput("there is no label image '{}' for the image '{}'", name.string(), data.sampleName(s));
        annotations[s].labelImage = file;
    }
    return annotations;
}

bool hasFileNames(const Dataset& data) {
    if (data.size() == 0) return false;
    const std::string extension = fs::path(data.sampleName(0)).extension().string();
    return !extension.empty();
}

struct LabelFile {
    Task task;
    const char* name;  ///< in messages
};

LabelFile labelFile(const fs::path& path) {
    if (!fs::exists(path)) fail(ErrorKind::Io, "there is no such file or folder");
    if (fs::is_directory(path)) return {Task::Segmentation, "folder of label images"};
    if (isClassList(path)) return {Task::Classification, "list of classes"};
    return {Task::Detection, "COCO file"};
}

/// The classes of the samples if all class folders are among these names; otherwise empty, with a notice if
/// some of them are.
std::vector<int> classesByName(const Dataset& dataset, const std::vector<std::string>& names,
                               std::string& notice) {
    std::vector<int> positions;
    std::vector<std::string> missing;
    for (const std::string& folder : dataset.classNames()) {
        const auto found = std::ranges::find(names, folder);
        if (found == names.end()) missing.push_back(fmt::format("'{}'", folder));
        positions.push_back(static_cast<int>(found - names.begin()));
    }
    if (!missing.empty()) {
        if (missing.size() < positions.size())
            notice = fmt::format(
                "the class names do not contain the class folders {}: the folders are numbered in "
                "alphabetical order",
                shortList(missing));
        return {};
    }
    std::vector<int> classes;
    for (std::size_t s = 0; s < dataset.size(); ++s) {
        const auto label = dataset.label(s);
        if (!label || static_cast<std::size_t>(*label) >= positions.size()) return {};
        classes.push_back(positions[static_cast<std::size_t>(*label)]);
    }
    return classes;
}

DatasetPtr labeled(DatasetPtr dataset, const TaskSettings& settings, const Preprocess& preprocess) {
    auto labels = std::make_shared<TaskLabels>();
    labels->settings = settings;
    labels->task = settings.task;
    const SampleAnnotation* own = dataset->size() > 0 ? dataset->annotation(0) : nullptr;
    if (own != nullptr && !own->tokens.empty()) {  // an array of labels in the data
        if (settings.task == Task::Automatic && settings.labels.empty()) labels->task = Task::Tokens;
        labels->labeled = labels->task == Task::Tokens;
    } else if (settings.task == Task::Tokens) {
        failInput(
            "the task 'tokens' needs an array 'labels' in the data, with one whole number per token (N × T)");
    }
    const bool named = hasFileNames(*dataset);
    if (named) labels->preprocess = preprocess;
    std::vector<SampleAnnotation> annotations;
    std::vector<int> classes;
    std::string notice;
    std::vector<std::string> names = dataset->classNames();
    if (!settings.classNames.empty()) {
        names = readClassNames(settings.classNames);
        if (settings.labels.empty() && !dataset->classNames().empty())
            classes = classesByName(*dataset, names, notice);
    }
    if (!settings.labels.empty()) {
        const LabelFile file = labelFile(settings.labels);
        if (settings.task != Task::Automatic && settings.task != file.task)
            failInput("a {} contains labels for {}, not for {}", file.name,
                      kTaskNames[static_cast<std::size_t>(file.task)],
                      kTaskNames[static_cast<std::size_t>(settings.task)]);
        labels->task = file.task;
        labels->labeled = file.task != Task::Classification;
        if (file.task == Task::Segmentation) {
            annotations = labelImages(*dataset, settings.labels, named);
        } else if (file.task == Task::Classification) {
            if (settings.classNames.empty()) names.clear();
            ClassList list = readClassList(settings.labels, *dataset, named, names);
            classes = std::move(list.classes);
            if (!list.names.empty()) names = std::move(list.names);
        } else {
            CocoFile coco = readCoco(settings.labels);
            labels->categories = coco.categories;
            notice = boxesBeyondImages(coco);
            if (settings.classNames.empty()) {
                names.clear();
                for (const Category& category : coco.categories) names.push_back(category.name);
            }
            annotations = cocoAnnotations(*dataset, std::move(coco), named);
        }
    }
    if (!settings.classNames.empty() && annotations.empty()) {  // of annotations, the indices may be ids
        std::size_t count = classes.empty() ? dataset->classNames().size() : 0;
        for (std::size_t i = 0; i < dataset->size(); ++i)
            if (const auto label = classes.empty() ? dataset->label(i) : classes[i])
                count = std::max(count, static_cast<std::size_t>(*label) + 1);
        if (names.size() < count)
            notice = fmt::format(
                "'{}' contains {}, but the data has {} classes: the remaining ones are shown as numbers",
                settings.classNames.filename().string(), counted(names.size(), "class name"), count);
    }
    return std::make_shared<LabeledDataset>(std::move(dataset), std::move(labels), std::move(annotations),
                                            std::move(classes), std::move(names), std::move(notice));
}

}  // namespace

std::vector<std::string> readClassNames(const fs::path& path) try {
    constexpr std::uint64_t kMaxBytes = 1 << 24;
    const std::string text = readFile(path, kMaxBytes);
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        names.push_back(std::move(line));
        begin = end + 1;
    }
    while (!names.empty() && names.back().empty()) names.pop_back();
    if (names.empty()) failInput("the file contains no names");
    return names;
} catch (Error& error) {
    error.addContext(fmt::format("class names '{}'", path.string())).setNamesFile();
    throw;
}

DatasetPtr withTask(DatasetPtr dataset, const TaskSettings& settings, const Preprocess& preprocess) try {
    if (settings == TaskSettings{}) return dataset;
    return labeled(std::move(dataset), settings, preprocess);
} catch (...) {
    rethrowFileError(fmt::format("labels '{}'", settings.labels.string()));
}

}  // namespace quantloupe
