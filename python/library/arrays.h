// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays in requests and replies: {"name", "type", "shape", "address"}; types are named as in numpy, and the
// elements are in row-major order.

#include <map>

#include "job.h"
#include "model/constant.h"

namespace quantloupe::python {

/// Describes an array and adds it to `held`.
OrderedJson describeArray(const std::string& name, const ConstantPtr& array, Held& held);
OrderedJson describeArrays(const std::map<std::string, ConstantPtr>& arrays, Held& held);

/// Returns a view of an array; Python must keep the array alive. Throws Error for types that no network has.
ConstantPtr arrayFrom(const OrderedJson& description);
std::map<std::string, ConstantPtr> arraysFrom(const OrderedJson& descriptions);

}  // namespace quantloupe::python
