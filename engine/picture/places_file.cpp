// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "picture/frames.h"
#include "picture/place_picture.h"

namespace quantloupe {
namespace {

constexpr std::uint32_t kLayoutVersion = 2;  ///< increment it whenever layouts change

void put(std::string& bytes, double value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Version checksum(std::string_view bytes) { return VersionBuilder().add(bytes).finish(); }

/// Reads numbers one after the other; stays at the end after the last one.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : m_bytes(bytes) {}
    double next() {
        double value = 0;
        if (m_bytes.size() < sizeof value) {
            m_good = false;
            return 0;
        }
        std::memcpy(&value, m_bytes.data(), sizeof value);
        m_bytes.remove_prefix(sizeof value);
        m_good = m_good && std::isfinite(value);
        return value;
    }
    bool good() const { return m_good; }
    bool atEnd() const { return m_bytes.empty(); }
    std::size_t left() const { return m_bytes.size() / sizeof(double); }

  private:
    std::string_view m_bytes;
    bool m_good = true;
};

}  // namespace

Version placesKey(const Picture& described, const LayoutOptions& options) {
    VersionBuilder builder;
    builder.add(kLayoutVersion).add(options.nodeWidth).add(options.nodeHeight).add(options.rowHeight);
    builder.add(static_cast<int>(options.arrangement));
    if (options.arrangement == Arrangement::Columns || options.arrangement == Arrangement::Largest)
        builder.add(options.viewWidth).add(options.viewHeight);
    builder.add(described.nodes.size());
    for (const PictureNode& node : described.nodes) builder.add(node.host);
    for (const PictureEdge& edge : described.edges)
        builder.add(edge.from).add(edge.to).add(edge.reference).add(edge.hidden);
    return builder.finish();
}

std::string writePlaces(const Picture& placed) {
    std::string bytes;
    for (const double value :
         {static_cast<double>(placed.nodes.size()), static_cast<double>(placed.edges.size()), placed.width,
          placed.height, static_cast<double>(placed.arrangement)})
        put(bytes, value);
    for (const PictureNode& node : placed.nodes)
        for (const double value : {node.box.x, node.box.y, node.box.width, node.box.height})
            put(bytes, value);
    for (const PictureEdge& edge : placed.edges) {
        put(bytes, static_cast<double>(edge.points.size()));
        for (const Point& p : edge.points) put(bytes, p.x), put(bytes, p.y);
    }
    const Version sum = checksum(bytes);
    bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    return bytes;
}

bool readPlaces(std::string_view bytes, Picture& described) {
    Version sum;
    if (bytes.size() < sizeof sum) return false;
    std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
    bytes.remove_suffix(sizeof sum);
    if (checksum(bytes) != sum) return false;
    Reader reader(bytes);
    const double nodes = reader.next(), edges = reader.next();
    if (!reader.good() || nodes != static_cast<double>(described.nodes.size()) ||
        edges != static_cast<double>(described.edges.size()))
        return false;
    Picture placed = described;
    placed.width = reader.next(), placed.height = reader.next();
    const double arrangement = reader.next();
    if (!(arrangement >= 0 && arrangement < static_cast<double>(Arrangement::Largest))) return false;
    placed.arrangement = static_cast<Arrangement>(arrangement);
    for (PictureNode& node : placed.nodes) {
        node.box.x = reader.next(), node.box.y = reader.next();
        node.box.width = reader.next(), node.box.height = reader.next();
    }
    for (PictureEdge& edge : placed.edges) {
        const double points = reader.next();
        if (!(points >= 2) || points > static_cast<double>(reader.left())) return false;
        edge.points.resize(static_cast<std::size_t>(points));
        for (Point& p : edge.points) p.x = reader.next(), p.y = reader.next();
    }
    if (!reader.good() || !reader.atEnd()) return false;
    placed.frames = framesOf(placed);
    described = std::move(placed);
    return true;
}

}  // namespace quantloupe
