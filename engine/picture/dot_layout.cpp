// SPDX-License-Identifier: Apache-2.0
// dot determines the order in the rows and the coordinates; everything else is done here. An edge that passes
// rows is replaced with a chain of thin nodes, one per row. Then all edges have length 1, dot must keep our
// ranks, and the path of each long edge is known and can be drawn straight (dot's own polylines touch the
// boxes). Such chains get a high weight, as in dot itself, and the trunk of the piece gets the highest, so it
// is drawn straight and stacked pieces fit. Splines are always "line": ortho aborts the process on some
// graphs, and curved does not terminate.
#include "picture/dot_layout.h"

#include <fmt/format.h>
#include <graphviz/gvc.h>
#include <locale.h>

#include <cmath>
#include <cstdlib>
#include <mutex>

#include "base/error.h"

namespace quantloupe {
namespace {

/// Graphviz parses numbers with the locale's decimal point.
class NumericLocale {
  public:
    NumericLocale() : m_c(newlocale(LC_NUMERIC_MASK, "C", nullptr)) {
        if (m_c != nullptr) m_previous = uselocale(m_c);
    }
    ~NumericLocale() {
        if (m_c == nullptr) return;
        uselocale(m_previous);
        freelocale(m_c);
    }
    NumericLocale(const NumericLocale&) = delete;
    NumericLocale& operator=(const NumericLocale&) = delete;

  private:
    locale_t m_c;
    locale_t m_previous = nullptr;
};

constexpr double kThin = 2;  ///< width of a bend

int swallowMessage(char*) { return 0; }

/// Created once and never freed, because freed contexts leave their plugins half loaded.
GVC_t* context() {
    static GVC_t* const gvc = [] {
        agseterr(AGERR);
        agseterrf(swallowMessage);
        return gvContext();
    }();
    return gvc;
}

char* text(const char* constant) { return const_cast<char*>(constant); }

/// A graph of libcgraph with its layout.
class DotGraph {
  public:
    DotGraph() : m_graph(agopen(text("piece"), Agdirected, nullptr)) {}
    ~DotGraph() {
        if (m_laidOut) gvFreeLayout(context(), m_graph);
        agclose(m_graph);
    }
    DotGraph(const DotGraph&) = delete;
    DotGraph& operator=(const DotGraph&) = delete;

    Agraph_t* get() { return m_graph; }
    void setDefault(int kind, const char* name, const char* value) {
        agattr(m_graph, kind, text(name), text(value));
    }
    bool layout() { return m_laidOut = gvLayout(context(), m_graph, "dot") == 0; }

  private:
    Agraph_t* m_graph;
    bool m_laidOut = false;
};

void setDefaults(DotGraph& dot, double width, double height) {
    dot.setDefault(AGRAPH, "rankdir", "TB");
    dot.setDefault(AGRAPH, "nodesep", "0.25");
    dot.setDefault(AGRAPH, "ranksep", "0.3");
    dot.setDefault(AGRAPH, "splines", "line");
    dot.setDefault(AGNODE, "shape", "box");
    dot.setDefault(AGNODE, "fixedsize", "true");
    dot.setDefault(AGNODE, "label", "");
    dot.setDefault(AGNODE, "width", fmt::format("{:.6f}", width / 72).c_str());
    dot.setDefault(AGNODE, "height", fmt::format("{:.6f}", height / 72).c_str());
    dot.setDefault(AGEDGE, "arrowhead", "none");
    dot.setDefault(AGEDGE, "weight", "1");
}

struct Places {
    std::vector<double> boxes;
    std::vector<std::vector<double>> bends;
};

std::optional<Places> findPlaces(const Piece& piece, const std::vector<char>& trunk, double boxWidth,
                                 double boxHeight) {
    DotGraph dot;
    setDefaults(dot, boxWidth, boxHeight);
    std::vector<Agnode_t*> nodes;
    for (std::size_t i = 0; i < piece.size(); ++i)
        nodes.push_back(agnode(dot.get(), fmt::format("n{}", i).data(), 1));
    const auto link = [&dot](Agnode_t* from, Agnode_t* to, const char* weight) {
        agset(agedge(dot.get(), from, to, nullptr, 1), text("weight"), text(weight));
    };
    const std::string thin = fmt::format("{:.6f}", kThin / 72);
    std::vector<std::vector<Agnode_t*>> chains(piece.edges.size());
    for (std::size_t e = 0; e < piece.edges.size(); ++e) {
        const PieceEdge& edge = piece.edges[e];
        Agnode_t* last = nodes[edge.from];
        for (int row = piece.ranks[edge.from] + 1; row < piece.ranks[edge.to]; ++row) {
            Agnode_t* bend = agnode(dot.get(), fmt::format("e{}r{}", e, row).data(), 1);
            agset(bend, text("width"), text(thin.c_str()));
            link(last, bend, chains[e].empty() ? "2" : "8");
            chains[e].push_back(bend);
            last = bend;
        }
        link(last, nodes[edge.to], trunk[e] ? "100" : chains[e].empty() ? "1" : "2");
    }
    if (!dot.layout()) return std::nullopt;

    // dot's y grows upwards. The boxes are placed in our rows; if dot's rows differ, they could overlap, so
    // this is checked.
    const double firstRow = ND_coord(nodes.front()).y;
    const auto inRow = [&](Agnode_t* node, int rank) {
        const double row = (firstRow - ND_coord(node).y) / (boxHeight + kRowGap);
        return std::abs(row - (rank - piece.ranks.front())) < 0.4;
    };
    Places places;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!inRow(nodes[i], piece.ranks[i])) return std::nullopt;
        places.boxes.push_back(ND_coord(nodes[i]).x);
    }
    places.bends.resize(chains.size());
    for (std::size_t e = 0; e < chains.size(); ++e)
        for (Agnode_t* node : chains[e]) places.bends[e].push_back(ND_coord(node).x);
    return places;
}

}  // namespace

std::optional<PieceLayout> dotLayout(const Piece& piece, double boxWidth, double boxHeight) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const NumericLocale locale;
    if (context() == nullptr) return std::nullopt;

    std::optional<Places> places = findPlaces(piece, trunkEdges(piece), boxWidth, boxHeight);
    // Equal branches are drawn symmetrically if the waists then stay above each other; otherwise one branch
    // becomes the trunk.
    const auto drifts = [&] { return std::abs(places->boxes.front() - places->boxes.back()) > 2; };
    if (places && piece.top && piece.bottom && drifts())
        places = findPlaces(piece, trunkEdges(piece, true), boxWidth, boxHeight);
    if (!places) return std::nullopt;
    return layoutInRows(piece, std::move(places->boxes), places->bends, boxWidth, boxHeight);
}

void useGraphvizPlugins(const std::filesystem::path& folder) {
    constexpr const char* kVariable = "GVBINDIR";
    const char* const value = std::getenv(kVariable);
    const std::optional<std::string> before =
        value == nullptr ? std::nullopt : std::optional<std::string>(value);
    setenv(kVariable, folder.c_str(), 1);
    context();  // reads the variable
    // Programs that this process starts must not inherit it.
    before ? setenv(kVariable, before->c_str(), 1) : unsetenv(kVariable);
}

}  // namespace quantloupe
