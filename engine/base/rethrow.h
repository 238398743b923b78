// SPDX-License-Identifier: Apache-2.0
#pragma once
// For catch (...) blocks at the boundary of a part of the engine.

#include <string>

namespace quantloupe {

/// Rethrows the current exception as an Error with this context. Exceptions of the standard library and of
/// other libraries become Errors, so that their internal messages never reach the user; Cancelled is rethrown
/// unchanged. An Error whose last context is the same is rethrown unchanged, too.
[[noreturn]] void rethrowWithContext(const std::string& context);
/// Rethrows the current exception. An Error gets this context unless it names its file; an error of the file
/// system becomes an Error with this context.
[[noreturn]] void rethrowFileError(const std::string& context);

}  // namespace quantloupe
