// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layers the configuration keeps in float, and by which rule.
//
// Precedence: a layer's own setting (layers.NAME.quantize) beats every rule; among rules the first that
// matches gives the reason; the tail comes last. Semantics of until, downstream and tail:
// model/reachability.h. A rule acts on all nodes that it covers; its effect is on the quantizable ones. A
// threshold covers the layers that the session has written into it (session/studies/threshold_rules.h), which
// are none before anything was measured.

#include <string>
#include <vector>

#include "base/error.h"
#include "config/quantization_config.h"
#include "model/graph.h"
#include "model/reachability.h"

namespace quantloupe {

/// What a rule is in words: "from A until B", "all Add layers".
std::string describe(const SkipRule& rule);

struct SkipDecisions {
    /// One entry a node of the source graph: empty = not skipped, otherwise why ("skipped by rule 2: from A
    /// until B").
    std::vector<std::string> reasons;
    /// The nodes each rule covers (none, if it is switched off), in the order of the rules; then the tail's,
    /// if the tail is skipped and not too large (config/tail_rule.h).
    std::vector<NodeSet> covered;
    /// Why the tail is quantized although the configuration skips it; empty otherwise.
    std::string tailNotice;
    bool skipped(NodeId node) const { return !reasons[node.index()].empty(); }
};

/// Throws Error for a name that the graph does not have (with near names), a rule without effect (no path
/// from A to B; says so if there is one from B to A) or a bad regular expression.
SkipDecisions resolveSkips(const Graph& source, const QuantizationConfig& config);

/// The same decisions without the rules that are switched off.
QuantizationConfig withoutOffRules(QuantizationConfig config);

/// Names in the graph that resemble a mistyped one, best first.
std::vector<std::string> nearLayerNames(const Graph& graph, const std::string& name, std::size_t most = 3);

/// "the model has no layer 'a' (did you mean 'b'?)"
Error unknownLayer(const Graph& graph, const std::string& name);

}  // namespace quantloupe
