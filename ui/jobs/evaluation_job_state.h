// SPDX-License-Identifier: Apache-2.0
#pragma once
// State that belongs to the engine's thread. Internal to ui/jobs.

#include "jobs/evaluation_job.h"

namespace quantloupe::ui {

struct EvaluationJob::State {
    std::unique_ptr<Session> session;
    std::optional<MetricProgram> metric;  ///< of evaluations on data
};

}  // namespace quantloupe::ui
