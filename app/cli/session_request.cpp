// SPDX-License-Identifier: Apache-2.0
#include "session_request.h"

#include <limits>
#include <set>
#include <utility>

#include "config/near_names.h"
#include "config/object_reader.h"
#include "config/precision.h"
#include "cost/cost_model.h"

namespace quantloupe::cli {
namespace {

using Kind = SessionRequest::Kind;

constexpr std::pair<const char*, Kind> kKinds[] = {
    {"evaluate", Kind::Evaluate}, {"skip", Kind::Skip},     {"quantize", Kind::Quantize},
    {"set", Kind::Set},           {"config", Kind::Config}, {"undo", Kind::Undo},
    {"redo", Kind::Redo},         {"layers", Kind::Layers}, {"leave_one_out", Kind::LeaveOneOut},
    {"tune", Kind::Tune},         {"quit", Kind::Quit}};

Kind kindOf(const Json& request) {
    std::vector<std::string> names;
    for (const auto& [name, kind] : kKinds) names.emplace_back(name);
    const auto found = request.find("do");
    if (found == request.end()) failInput("the request has no \"do\"; available: {}", fmt::join(names, ", "));
    if (!found->is_string()) failInput("do: must be a string, not {}", describeValue(*found));
    for (const auto& [name, kind] : kKinds)
        if (found->get_ref<const std::string&>() == name) return kind;
    failInput("do: {} is unknown{}; available: {}", describeValue(*found),
              didYouMean(nearNames(names, found->get<std::string>(), 2)), fmt::join(names, ", "));
}

void readTune(ObjectReader& reader, bool ownMetric, TuneOptions& tune) {
    constexpr int kMaxSteps = 1'000'000;
    constexpr double kMaxSeconds = 1e6;
    constexpr double kMaxBudget = 1e18;
    double points = 0, budget = 0;
    if (reader.find("budget") != nullptr) {
        reader.number("budget", budget, 0, kMaxBudget);
        tune.budget = budget;
        tune.maxDrop = std::numeric_limits<double>::infinity();
    } else if (reader.find("max_drop") == nullptr) {
        failInput(
            "max_drop: is missing; give it in percentage points, {{\"do\":\"tune\",\"max_drop\":1}}, or give "
            "a budget");
    }
    if (reader.find("max_drop") != nullptr) {
        reader.number("max_drop", points, 0, ownMetric ? kMaxBudget : 100);
        tune.maxDrop = ownMetric ? points : points / 100;
    }
    reader.choice("cost", tune.cost, costsWithoutProfile());
    std::vector<std::string> precisions;
    reader.texts("precisions", precisions);
    try {
        for (const std::string& text : precisions) tune.precisions.push_back(precisionNamed(text));
    } catch (Error& error) {
        error.addContext("precisions");
        throw;
    }
    if (reader.find("cost") == nullptr) tune.cost = usualCost(!tune.precisions.empty(), false);
    reader.boolean("float", tune.allowFloat);
    int steps = 0;
    reader.integer("max_steps", steps, 1, kMaxSteps);
    tune.maxSteps = static_cast<std::size_t>(steps);
    reader.number("max_seconds", tune.maxSeconds, 0.001, kMaxSeconds);
    reader.boolean("with_transforms", tune.transforms);
}

}  // namespace

SessionRequest parseSessionRequest(std::string_view line, bool ownMetric) {
    const Json json = parseStrictJson(line);
    if (!json.is_object()) failInput("a request must be a JSON object, not {}", describeValue(json));
    SessionRequest request;
    request.kind = kindOf(json);
    static const std::vector<std::string> kNoOtherKeys;
    ObjectReader reader(json, "", kNoOtherKeys);
    reader.find("do");
    switch (request.kind) {
        case Kind::Quit:
            break;
        case Kind::Tune:
            readTune(reader, ownMetric, request.tune);
            reader.boolean("layers", request.table);
            reader.boolean("cold", request.cold);
            break;
        case Kind::Skip:
        case Kind::Quantize:
            reader.texts("layers", request.names);
            reader.boolean("cold", request.cold);
            break;
        case Kind::Set:
            reader.text("key", request.key);
            [[fallthrough]];
        case Kind::Config:
            if (const Json* value = reader.find("value")) request.value = value->dump();
            [[fallthrough]];
        default:
            reader.boolean("layers", request.table);
            reader.boolean("cold", request.cold);
    }
    reader.finish();

    if ((request.kind == Kind::Skip || request.kind == Kind::Quantize) && request.names.empty())
        failInput(
            "layers: is missing or empty; name the layers: {{\"do\":\"skip\",\"layers\":[\"Conv_0\"]}}");
    if (request.kind == Kind::Set && (request.key.empty() || !request.value))
        failInput(
            "{}: is missing; for example {{\"do\":\"set\",\"key\":\"quantization.weight.bits\",\"value\":4}}",
            request.key.empty() ? "key" : "value");
    std::set<std::string> seen;  // removes duplicate names
    std::erase_if(request.names, [&](const std::string& name) { return !seen.insert(name).second; });
    return request;
}

}  // namespace quantloupe::cli
