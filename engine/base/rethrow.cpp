// SPDX-License-Identifier: Apache-2.0
#include "base/rethrow.h"

#include <filesystem>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/memory_limit.h"

namespace quantloupe {

void rethrowWithContext(const std::string& context) {
    try {
        throw;
    } catch (Error& error) {
        if (error.context() != context) error.addContext(context);
        throw;
    } catch (const Cancelled&) {
        throw;
    } catch (const std::bad_alloc&) {
        OutOfMemory error("there is not enough memory for this");
        error.addContext(context);
        throw error;
    } catch (const std::length_error&) {
        throw Error(ErrorKind::BadInput, "it contains a size that exceeds any possible memory")
            .addContext(context);
    } catch (const std::exception&) {
        throw Error(ErrorKind::Internal,
                    "unexpected error: the file is damaged, or this is a bug in Quantloupe. If other tools "
                    "accept the file, please report it")
            .addContext(context);
    }
}

void rethrowFileError(const std::string& context) {
    try {
        throw;
    } catch (Error& error) {
        if (!error.namesFile()) error.addContext(context);
        throw;
    } catch (const std::filesystem::filesystem_error& error) {
        throw Error(ErrorKind::Io, fmt::format("'{}': {}", error.path1().string(), error.code().message()))
            .addContext(context);
    }
}

}  // namespace quantloupe
