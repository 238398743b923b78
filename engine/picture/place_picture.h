// SPDX-License-Identifier: Apache-2.0
#pragma once
// The costly half of a layout, and its result as bytes, so that a network that was drawn once need not be laid out again.

#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/version.h"
#include "picture/picture.h"

namespace quantloupe {

/// Gives the boxes and edges of describePicture() their places. As layoutPicture() otherwise.
void placePicture(Picture& described, const LayoutOptions& options, const CancelToken& cancel = {});

/// What the places depend on: boxes, their sizes, the edges between them, and the layout's own version. Names do not matter.
Version placesKey(const Picture& described, const LayoutOptions& options);
/// The places as bytes, with a checksum. Machine-dependent: a cache, not a format.
std::string writePlaces(const Picture& placed);
/// Puts them into a picture that has none yet. False, and nothing changed, if the bytes are not those of such a picture.
bool readPlaces(std::string_view bytes, Picture& described);

}  // namespace quantloupe
