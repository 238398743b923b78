// SPDX-License-Identifier: Apache-2.0
#include "interface.h"

#include <cstdlib>
#include <cstring>

#include "arrays.h"
#include "base/error.h"
#include "common/program_version.h"
#include "picture/dot_layout.h"
#include "requests.h"

using namespace quantloupe;
using namespace quantloupe::python;

namespace {

char* copied(const std::string& text) { return ::strdup(text.c_str()); }

UserMetric metricOf(QuantloupeMetric function, bool lowerIsBetter) {
    const auto measure = [function](const MetricInput& input, const CancelToken& cancel) {
        cancel.check();
        auto held = std::make_unique<Held>();
        OrderedJson description = {{"outputs", describeArrays(input.outputs, *held)}};
        const auto samples = Constant::fromInt64s({static_cast<std::int64_t>(input.samples.size())},
                                                  {input.samples.begin(), input.samples.end()});
        description["samples"] = describeArray("samples", samples, *held);
        description["labels"] = input.labels ? describeArray("labels", input.labels, *held) : nullptr;
        int failed = 0;
        const double value = function(jsonText(description).c_str(), held.release(), &failed);
        if (failed != 0) failInput("the metric raised an exception");
        return value;
    };
    return {measure, lowerIsBetter};
}

}  // namespace

const char* quantloupe_version() {
    static const std::string version = versionText();
    return version.c_str();
}

void quantloupe_use_graphviz(const char* folder) { useGraphvizPlugins(folder); }

char* quantloupe_config(const char* request) {
    return copied(replyOf([&] { return performOnConfig(OrderedJson::parse(request)); }));
}

void quantloupe_free(char* text) { std::free(text); }

Engine* quantloupe_open() { return new Engine; }

void quantloupe_close(Engine* engine) { delete engine; }

void quantloupe_set_metric(Engine* engine, QuantloupeMetric metric, int lowerIsBetter) {
    if (metric == nullptr)
        engine->session->setMetric(std::nullopt);
    else
        engine->session->setMetric(metricOf(metric, lowerIsBetter != 0));
}

Job* quantloupe_start(Engine* engine, const char* request) try {
    return new Job([engine, text = std::string(request)](Job& job) {
        return perform(*engine, OrderedJson::parse(text), job);
    });
} catch (const std::exception&) {
    return nullptr;
}

int quantloupe_wait(Job* job, double seconds) { return job->wait(seconds) ? 1 : 0; }

void quantloupe_cancel(Job* job) { job->cancelToken().cancel(); }

char* quantloupe_progress(Job* job) { return copied(jsonText(job->takeProgress())); }

const char* quantloupe_result(Job* job) { return job->reply().c_str(); }

void quantloupe_release(Held* held) { delete held; }

void quantloupe_release_job(Job* job) { delete job; }
