// SPDX-License-Identifier: Apache-2.0
#pragma once
// The initial folder of save dialogs: the folder used last for this model, else the model's folder. GUI
// thread.

#include <filesystem>
#include <string>

namespace quantloupe::ui {

/// Returns the folder of the last output for the model, remembered in the user's settings, else the folder of
/// the model; the user's documents if that is read-only or belongs to the installation (the demo).
std::filesystem::path outputFolder(const std::filesystem::path& model);
/// Returns the model's name with another extension (".amct.json") in that folder.
std::filesystem::path proposedOutput(const std::filesystem::path& model, const std::string& extension);
/// Remembers the folder for the next save dialog.
void rememberOutputFolder(const std::filesystem::path& model, const std::filesystem::path& folder);

}  // namespace quantloupe::ui
