// SPDX-License-Identifier: Apache-2.0
#pragma once
// The C functions of the shared library that the Python package loads with ctypes
// (python/quantloupe/_engine.py).
//
// The library does not use Python's C API, so one build works with every version of Python. Requests and
// replies are JSON. Long work runs as a job in its own thread, and ctypes releases the GIL during each call,
// so Python stays responsive. Arrays are not copied in either direction; their addresses are numbers in the
// JSON.

#define QUANTLOUPE_EXPORT __attribute__((visibility("default")))

namespace quantloupe::python {
struct Engine;
class Held;
class Job;
}  // namespace quantloupe::python

extern "C" {

using quantloupe::python::Engine;
using quantloupe::python::Held;
using quantloupe::python::Job;

/// Computes the user's metric. `input` is JSON: {"outputs": [ARRAY...], "samples": ARRAY, "labels": ARRAY};
/// `held` keeps the arrays alive and must be released. Sets `failed` instead of returning a number if the
/// metric raised an exception.
using QuantloupeMetric = double (*)(const char* input, Held* held, int* failed);

/// "0.1.0 (commit 1a2b3c4d5e6f)"
QUANTLOUPE_EXPORT const char* quantloupe_version();
/// Makes Graphviz load its plugins from this folder. Call this before the first picture is drawn.
QUANTLOUPE_EXPORT void quantloupe_use_graphviz(const char* folder);

/// Reads or edits a configuration (config_requests.cpp). Returns {"result": ...} or {"error": text}, to be
/// freed.
QUANTLOUPE_EXPORT char* quantloupe_config(const char* request);
QUANTLOUPE_EXPORT void quantloupe_free(char* text);

/// Creates a session without a model. Only one job at a time may use it.
QUANTLOUPE_EXPORT Engine* quantloupe_open();
/// Ends the session. Its jobs must have ended.
QUANTLOUPE_EXPORT void quantloupe_close(Engine* engine);
/// Sets the metric; null: none.
QUANTLOUPE_EXPORT void quantloupe_set_metric(Engine* engine, QuantloupeMetric metric, int lowerIsBetter);

/// Starts a request (requests.cpp). Returns null if no thread can be started.
QUANTLOUPE_EXPORT Job* quantloupe_start(Engine* engine, const char* request);
/// Waits until the job has ended, at most this long. Returns whether it has ended.
QUANTLOUPE_EXPORT int quantloupe_wait(Job* job, double seconds);
QUANTLOUPE_EXPORT void quantloupe_cancel(Job* job);
/// Returns the progress since the last call, a JSON list, to be freed.
QUANTLOUPE_EXPORT char* quantloupe_progress(Job* job);
/// Returns {"result": ...}, {"error": text} or {"cancelled": true} for a job that has ended. The text is
/// valid until the job is released.
QUANTLOUPE_EXPORT const char* quantloupe_result(Job* job);
/// Releases the arrays of a job or of a metric call. They stay valid after the job itself is released.
QUANTLOUPE_EXPORT void quantloupe_release(Held* held);
QUANTLOUPE_EXPORT void quantloupe_release_job(Job* job);
}
