// SPDX-License-Identifier: Apache-2.0
#pragma once
// A text file with the class of each image, such as ImageNet's val.txt or a table of a data set.

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace quantloupe {

/// Returns whether the extension is .txt, .csv or .tsv.
bool isClassList(const std::filesystem::path& path);

struct ClassList {
    std::vector<int> classes;        ///< of each sample of the dataset
    std::vector<std::string> names;  ///< of the classes; empty: the file contains numbers
};

/// Reads the classes of the samples. Each line contains a file name and a class (or the class first),
/// separated by a tab, a comma, a semicolon or spaces; a name is a path in the data folder or an end of it,
/// with or without its extension (with it if the class is first). Lines of other images and a header are
/// ignored. Alternatively, each line contains only a class, in the order of the samples; this is the only
/// form for samples without file names (`named` is false).
///
/// If the classes are whole numbers, they are indices. Otherwise they are positions in `names` or, if that is
/// empty, in the names of the class folders; if these are other names, in the sorted list of all names in the
/// file. Throws Error naming the line or the image.
ClassList readClassList(const std::filesystem::path& path, const Dataset& data, bool named,
                        const std::vector<std::string>& names);

}  // namespace quantloupe
