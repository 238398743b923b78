// SPDX-License-Identifier: Apache-2.0
#pragma once
// The engine's only error type. Its message says what is wrong, where, and what to do about it.
// Not for "this layer cannot be quantized": that is a reason, not an error (LayerResult::reason in
// results/evaluation.h).

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quantloupe {

enum class ErrorKind {
    BadInput,     ///< a file, an image or a setting from the user is wrong
    Unsupported,  ///< valid, but not supported by this version
    Io,           ///< the file system reported an error
    Internal,     ///< a bug in Quantloupe
};

/// A name that does not exist, and existing names that are similar, best first.
struct UnknownName {
    std::string name;
    std::vector<std::string> similar;
};

class Error : public std::exception {
  public:
    Error(ErrorKind kind, const std::string& message);

    /// Prepends where the error happened. Each level adds its own context: "node 'Conv_3'", then "model
    /// 'a.onnx'".
    Error& addContext(const std::string& context);
    /// The context that was added last; empty if there is none.
    const std::string& context() const { return m_context; }

    /// Marks an error whose message or context names the file, so that callers do not add the file again.
    Error& setNamesFile() {
        m_namesFile = true;
        return *this;
    }
    bool namesFile() const { return m_namesFile; }

    /// Attaches the unknown name that the message reports, so that the window can offer the similar ones.
    Error& setUnknownName(UnknownName name) {
        m_unknownName = std::move(name);
        return *this;
    }

    ErrorKind kind() const { return m_kind; }
    const std::optional<UnknownName>& unknownName() const { return m_unknownName; }
    const std::string& message() const { return m_message; }
    /// "model 'a.onnx': node 'Conv_3': message".
    const char* what() const noexcept override { return m_what.c_str(); }

  private:
    ErrorKind m_kind;
    std::string m_message;
    std::string m_what;
    std::string m_context;
    bool m_namesFile = false;
    std::optional<UnknownName> m_unknownName;
};

/// Thrown when a cancel token is set. Never shown to the user as an error.
class Cancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "cancelled"; }
};

template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
    throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void failInput(fmt::format_string<Args...> text, Args&&... args) {
    throw Error(ErrorKind::BadInput, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace quantloupe
