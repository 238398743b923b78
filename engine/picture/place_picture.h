// SPDX-License-Identifier: Apache-2.0
#pragma once
// The expensive half of a layout, and its serialization, so that a network only has to be laid out once.

#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/version.h"
#include "picture/picture.h"

namespace quantloupe {

/// Sets the coordinates of boxes and edges from describePicture(). Otherwise like layoutPicture().
void placePicture(Picture& described, const LayoutOptions& options, const CancelToken& cancel = {});

/// Returns a hash of everything that the coordinates depend on: boxes, their sizes, the edges between them,
/// and the version of the layout algorithm. Names do not matter.
Version placesKey(const Picture& described, const LayoutOptions& options);
/// Serializes the coordinates with a checksum. Machine-dependent: for a cache, not a file format.
std::string writePlaces(const Picture& placed);
/// Restores the coordinates of a picture. Returns false and changes nothing if the bytes do not belong to
/// such a picture.
bool readPlaces(std::string_view bytes, Picture& described);

}  // namespace quantloupe
