// SPDX-License-Identifier: Apache-2.0
// A folder of images as a dataset. Only names are kept in memory; a sample is read, decoded and converted on
// request.

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "data/dataset_sources.h"
#include "data/image_input.h"
#include "data/with_thousands.h"

namespace quantloupe {

namespace {

namespace fs = std::filesystem;

struct ImageFile {
    std::string relative;  ///< with '/' between the parts
    std::optional<int> label;
};

bool isImage(const fs::path& path) {
    const std::string extension = lowerCase(path.extension().string());
    return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

struct Listing {
    std::vector<std::string> folders, images;  // sorted bytewise, as Python sorts text
};

Listing list(const fs::path& folder, const CancelToken& cancel) {
    Listing result;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        cancel.check();
        const std::string name = entry.path().filename().generic_string();
        if (name.starts_with('.')) continue;
        if (entry.is_directory())
            result.folders.push_back(name);
        else if (isImage(entry.path()))
            result.images.push_back(name);
    }
    std::sort(result.folders.begin(), result.folders.end());
    std::sort(result.images.begin(), result.images.end());
    return result;
}

class ImageFolder : public Dataset {
  public:
    ImageFolder(fs::path root, std::vector<ImageFile> files, std::vector<std::string> classes,
                const InputSpec& spec, const Preprocess& preprocess, const CancelToken& cancel)
        : m_root(std::move(root)),
          m_files(std::move(files)),
          m_classes(std::move(classes)),
          m_input(spec, preprocess) {
        VersionBuilder version;
        version.add("images").add(fs::weakly_canonical(m_root).generic_string());
        version.add(preprocessToJson(preprocess)).add(spec.type).add(toString(spec.shape));
        for (const std::string& name : m_classes) version.add(name);
        for (const ImageFile& file : m_files) {
            cancel.check();
            requireRegularFile(m_root / file.relative);
            const fs::directory_entry entry(m_root / file.relative);
            version.add(file.relative).add(file.label.value_or(-1));
            version.add(static_cast<std::uint64_t>(entry.file_size()));
            version.add(entry.last_write_time().time_since_epoch().count());
        }
        m_version = version.finish();
    }

    std::size_t size() const override { return m_files.size(); }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        const fs::path path = m_root / m_files[index].relative;
        Image image = decodeImage(path);  // names the file itself
        try {
            return {m_input.convert(std::move(image))};
        } catch (Error& error) {
            error.addContext(fmt::format("image '{}'", path.string()));
            throw;
        }
    }
    std::string sampleName(std::size_t index) const override { return m_files[index].relative; }
    std::optional<int> label(std::size_t index) const override { return m_files[index].label; }
    const std::vector<std::string>& classNames() const override { return m_classes; }
    std::string description() const override {
        std::string text =
            fmt::format("{} {}", withThousands(m_files.size()), m_files.size() == 1 ? "image" : "images");
        if (!m_classes.empty())
            text += fmt::format(" in {} {}", withThousands(m_classes.size()),
                                m_classes.size() == 1 ? "class" : "classes");
        return text;
    }
    Version version() const override { return m_version; }

  private:
    fs::path m_root;
    std::vector<ImageFile> m_files;
    std::vector<std::string> m_classes;
    ImageInput m_input;
    Version m_version;
};

}  // namespace

DatasetPtr openImageFolder(const fs::path& folder, const std::vector<InputSpec>& inputs,
                           const Preprocess& preprocess, const CancelToken& cancel) {
    const Listing top = list(folder, cancel);
    std::vector<ImageFile> files;
    for (const std::string& image : top.images) files.push_back({image, std::nullopt});
    for (std::size_t label = 0; label < top.folders.size(); ++label) {
        const std::string& name = top.folders[label];
        const Listing inside = list(folder / name, cancel);
        if (!inside.images.empty() && !top.images.empty())
            failInput(
                "it contains both images ('{}') and folders of images ('{}'): use a flat folder or one "
                "folder per class",
                top.images.front(), name);
        if (!inside.folders.empty() && top.images.empty())
            failInput(
                "the class folder '{}' contains folders ('{}'): choose the folder whose subfolders are the "
                "classes",
                name, inside.folders.front());
        for (const std::string& image : inside.images)
            files.push_back({name + "/" + image, static_cast<int>(label)});
    }
    if (files.empty())
        failInput(
            "the folder contains no samples: no .jpg, .jpeg or .png in it or in its subfolders, and no "
            "test_data_set_*");
    if (inputs.size() != 1)
        failInput(
            "images can only be used for networks with one input, this one has {}: use arrays (.npz) instead",
            inputs.size());
    // By the joined path: "a-b/1.jpg" comes before "a/1.jpg", though class "a" comes before "a-b".
    std::sort(files.begin(), files.end(),
              [](const ImageFile& a, const ImageFile& b) { return a.relative < b.relative; });
    std::vector<std::string> classes = top.images.empty() ? top.folders : std::vector<std::string>();
    return std::make_shared<ImageFolder>(folder, std::move(files), std::move(classes), inputs.front(),
                                         preprocess, cancel);
}

}  // namespace quantloupe
