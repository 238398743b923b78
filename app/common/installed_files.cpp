// SPDX-License-Identifier: Apache-2.0
#include "common/installed_files.h"

#include <cstdlib>

namespace quantloupe {
namespace fs = std::filesystem;
namespace {

/// The folder above the program's folder: "/usr" for /usr/bin/quantloupe. Empty if it is unknown.
fs::path prefix() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : program.parent_path().parent_path();
}

/// Sets the variable to our copy if there is one and the system has no file of its own.
void setUnlessThere(const char* variable, const fs::path& ours, const char* systemFile) {
    std::error_code ignored;
    if (fs::exists(ours, ignored) && !fs::exists(systemFile, ignored)) setenv(variable, ours.c_str(), 0);
}

}  // namespace

fs::path sharedFiles() { return prefix() / "share" / "quantloupe"; }

fs::path documentation() { return prefix() / "share" / "doc" / "quantloupe"; }

void useBundledFiles() {
    const fs::path bundle = prefix() / "lib" / "quantloupe";
    std::error_code ignored;
    // Graphviz looks for plugins where it was installed. They must belong to the Graphviz that is loaded.
    if (fs::exists(bundle / "graphviz", ignored)) setenv("GVBINDIR", (bundle / "graphviz").c_str(), 1);
    setUnlessThere("FONTCONFIG_FILE", bundle / "fonts" / "fonts.conf", "/etc/fonts/fonts.conf");
    setUnlessThere("XKB_CONFIG_ROOT", bundle / "xkb", "/usr/share/X11/xkb");
}

}  // namespace quantloupe
