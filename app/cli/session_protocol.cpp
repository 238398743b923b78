// SPDX-License-Identifier: Apache-2.0
#include "session_protocol.h"

#include <chrono>
#include <new>

#include "base/error.h"
#include "config/config_json.h"
#include "config/layer_choices.h"
#include "sweep_json.h"
#include "tune_json.h"

namespace quantloupe::cli {
namespace {

using Kind = SessionRequest::Kind;

/// The text may quote bytes of the request that are not valid UTF-8; they are replaced.
OrderedJson failure(const std::string& text) {
    return {{"ok", false},
            {"error", OrderedJson::parse(
                          OrderedJson(text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace))}};
}

}  // namespace

SessionProtocol::SessionProtocol(Session& session, QuantizationConfig config, EvaluationObserver observer)
    : m_session(session), m_observer(std::move(observer)), m_history{std::move(config)} {}

OrderedJson SessionProtocol::answer(std::string_view line) {
    const auto start = std::chrono::steady_clock::now();
    try {
        OrderedJson reply = perform(parseSessionRequest(line, m_session.hasMetric()));
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        reply["seconds"] = spent.count();
        return reply;
    } catch (const std::bad_alloc&) {
        return failure("not enough memory for this");
    } catch (const Error& error) {
        return failure(error.what());
    } catch (const std::exception&) {
        return failure(
            "the request failed because of an error in quantloupe-cli itself: please report the request with "
            "its files");
    }
}

QuantizationConfig SessionProtocol::edited(const SessionRequest& request) const {
    const Graph& graph = m_session.graph();
    requireLayers(graph, request.names);
    switch (request.kind) {
        case Kind::Skip:
            return withLayersSkipped(config(), request.names);
        case Kind::Quantize:
            return withLayersQuantized(graph, config(), request.names);
        case Kind::Set: {
            QuantizationConfig next = config();
            setConfigKey(next, request.key, *request.value);
            return next;
        }
        default:
            return configFromJson(*request.value);
    }
}

OrderedJson SessionProtocol::perform(const SessionRequest& request) {
    OrderedJson reply = {{"ok", true}, {"seconds", 0.0}};
    std::vector<QuantizationConfig> history = m_history;
    std::size_t current = m_current;
    Depth depth = request.table ? Depth::Metrics : Depth::Accuracy;
    bool table = request.table;
    switch (request.kind) {
        case Kind::Quit:
            m_ended = true;
            return reply;
        case Kind::Config:
            if (!request.value) {
                reply["value"] = OrderedJson::parse(configToJson(config()));
                if (!table && !request.cold) return reply;
                break;
            }
            [[fallthrough]];
        case Kind::Skip:
        case Kind::Quantize:
        case Kind::Set:
            history.resize(current + 1);
            history.push_back(edited(request));
            ++current;
            break;
        case Kind::Undo:
            if (current == 0) failInput("there is nothing to undo");
            --current;
            break;
        case Kind::Redo:
            if (current + 1 == history.size()) failInput("there is nothing to redo");
            ++current;
            break;
        case Kind::Evaluate:  // a full evaluation has all metrics
            depth = Depth::Metrics;
            break;
        case Kind::Layers:
            depth = Depth::Metrics;
            table = true;
            break;
        case Kind::LeaveOneOut:
        case Kind::Tune:
            break;
    }
    if (request.cold) m_session.clearCache();
    if (request.kind == Kind::Tune) {
        TuneOptions options = request.tune;
        if (m_observer.progress)
            options.progress = [this](const TuneProgress& tuning) {
                m_observer.progress({quantloupe::describe(tuning.stage), tuning.done, tuning.total});
            };
        const TuneResult result = tune(m_session, history[current], options);
        reply["tune"] = toJson(result);
        const QuantizationConfig& found = result.curve[result.chosen].config;
        if (result.reached && found != history[current]) {
            history.resize(current + 1);
            history.push_back(found);
            ++current;
        }
    }
    describe(reply, *m_session.evaluate(history[current], depth, m_observer), table);
    if (request.kind == Kind::LeaveOneOut)
        // exact: all samples
        reply["leave_one_out"] = toJson(leaveOneOut(m_session, history[current], {0, {}}), m_session.graph());
    m_history = std::move(history);
    m_current = current;
    if (reply.contains("notices"))
        for (const OrderedJson& text : reply["notices"]) m_reported.insert(text.get<std::string>());
    return reply;
}

void SessionProtocol::describe(OrderedJson& reply, const Evaluation& evaluation, bool table) const {
    using cli::toJson;
    reply["quantized"] = toJson(evaluation.quantized, Role::Quantized);
    reply["float"] = toJson(evaluation.floating, Role::Floating);
    reply["counts"] = toJson(evaluation.counts);
    reply["samples"] = evaluation.samples;
    reply["random_inputs"] = evaluation.randomInputs;
    std::set<std::string> reported = m_reported;
    OrderedJson news = OrderedJson::array();
    for (const std::string& text : evaluation.notices)
        if (reported.insert(text).second) news.push_back(text);
    if (!news.empty()) reply["notices"] = std::move(news);
    if (!table) return;
    reply["layers"] = OrderedJson::array();
    for (const LayerResult& layer : evaluation.layers) reply["layers"].push_back(toJson(layer));
}

}  // namespace quantloupe::cli
