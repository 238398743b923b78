// SPDX-License-Identifier: Apache-2.0
#include "document/demo.h"

#include <QCoreApplication>

namespace quantloupe::ui {

std::optional<OpenRequest> findDemo(const std::filesystem::path& fallback) {
    namespace fs = std::filesystem;
    const fs::path program = QCoreApplication::applicationDirPath().toStdString();
    for (const fs::path& resources : {program / ".." / "share" / "quantloupe", fallback}) {
        if (resources.empty()) continue;
        const fs::path demo = (resources / "demo").lexically_normal();
        OpenRequest request;
        request.ownConfig = false;
        request.model = demo / "mobilenetv2_cifar10.onnx";
        std::error_code ignored;
        if (!fs::exists(request.model, ignored)) continue;
        if (fs::is_directory(demo / "val", ignored)) request.data = demo / "val";
        if (fs::is_directory(demo / "calibration", ignored)) request.calibration = demo / "calibration";
        if (fs::exists(demo / "demo.config.json", ignored)) request.config = demo / "demo.config.json";
        return request;
    }
    return std::nullopt;
}

bool isDemo(const std::filesystem::path& model) {
    std::error_code ignored;
    return model.parent_path().filename() == "demo" &&
           std::filesystem::exists(model.parent_path() / "demo.config.json", ignored);
}

}  // namespace quantloupe::ui
