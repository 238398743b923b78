// SPDX-License-Identifier: Apache-2.0
#pragma once
// Determines which layers the configuration keeps in float, and by which rule.
//
// Precedence: a layer's own setting (layers.NAME.quantize or .precision) takes precedence over every rule.
// Precision rules come after skip rules and can keep layers in float32 or float16 (config/precision_rules.h).
// The first rule that covers a layer is reported as the reason; the tail comes last. model/reachability.h
// defines until, downstream and tail. A rule may cover any node, but only affects quantizable ones. A
// threshold rule covers the layers that the session has written into it (session/studies/threshold_rules.h),
// none before the first evaluation.

#include <string>
#include <vector>

#include "base/error.h"
#include "config/quantization_config.h"
#include "model/graph.h"
#include "model/reachability.h"

namespace quantloupe {

/// Describes a rule: "from A until B", "all Add layers".
std::string describe(const SkipRule& rule);

struct SkipDecisions {
    /// One entry per node of the source graph: why the node is skipped ("skipped by rule 2: from A until B");
    /// empty if it is not.
    std::vector<std::string> reasons;
    /// The nodes that each rule covers (none if it is disabled), in the order of the rules; then those of the
    /// tail, if the tail is skipped and not too large (config/tail_rule.h).
    std::vector<NodeSet> covered;
    /// One entry per node, or empty if there are none: the skipped nodes that compute in float16.
    NodeSet float16;
    /// Why the tail is quantized although the configuration skips it; empty otherwise.
    std::string tailNotice;
    bool skipped(NodeId node) const { return !reasons[node.index()].empty(); }
    bool inFloat16(NodeId node) const { return !float16.empty() && float16[node.index()]; }
};

/// Decides for each node whether it is skipped. Throws Error for a name that the graph does not contain (with
/// similar names), a rule that covers nothing (no path from A to B; the message says so if there is one from
/// B to A), or an invalid regular expression. A rule for an operator of ONNX may cover nothing.
SkipDecisions resolveSkips(const Graph& source, const QuantizationConfig& config);

/// Returns the nodes that a rule covers, even if it is disabled. Throws Error like resolveSkips().
NodeSet coveredBy(const Graph& source, const SkipRule& rule);

/// Returns the configuration without its disabled rules.
QuantizationConfig withoutOffRules(QuantizationConfig config);

/// Returns names of layers that are similar to a mistyped one, best first.
std::vector<std::string> nearLayerNames(const Graph& graph, const std::string& name, std::size_t most = 3);

/// Returns the error "the model has no layer 'a' (did you mean 'b'?)".
Error unknownLayer(UnknownName layer);
/// Returns the same error, with the names of nearLayerNames().
Error unknownLayer(const Graph& graph, const std::string& name);

}  // namespace quantloupe
