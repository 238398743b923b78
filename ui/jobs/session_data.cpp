// SPDX-License-Identifier: Apache-2.0
#include "jobs/session_data.h"

#include "data/dataset.h"
#include "data/labeled_dataset.h"

namespace quantloupe::ui {

std::pair<DatasetPtr, DatasetPtr> openSessionData(const Session& session,
                                                  const std::filesystem::path& evaluation,
                                                  const std::filesystem::path& calibration,
                                                  const Preprocess& preprocess, const TaskSettings& task,
                                                  const CancelToken& cancel) {
    const auto specs = inputSpecsOf(session.graph());
    const DatasetPtr data = withTask(openDataset(evaluation, specs, preprocess, cancel), task, preprocess);
    const DatasetPtr calibrationData =
        calibration.empty() ? nullptr : openDataset(calibration, specs, preprocess, cancel);
    return {data, calibrationData};
}

}  // namespace quantloupe::ui
