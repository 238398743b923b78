// SPDX-License-Identifier: Apache-2.0
#pragma once
// What to do in a catch (...) block at the border of a part of the engine.

#include <string>

namespace quantloupe {

/// Throws the exception that is being handled again, as an Error with this context. Exceptions of the standard library and of other
/// libraries become Errors, so that their internal texts never reach the user; Cancelled stays what it is.
/// An Error that begins with the context already stays as it is.
[[noreturn]] void rethrowWithContext(const std::string& context);

}  // namespace quantloupe
