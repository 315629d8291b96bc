// The hopping term one site after the other, as ScalarHop, on the block of one of several processes: for checks, whose memory may not grow
// with the lattice of all.
//
// The links of a block are followed by those that lead into it: for each cut dimension, those of the face before the block.
#pragma once

#include <algorithm>
#include <vector>

#include "haloed.hpp"
#include "scalar.hpp"

namespace lqcd {

// Layout has one lane.
inline Index plain_links_size(const Layout& layout) {
  Index sites = 0;
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (layout.lattice.cut(mu)) sites += Face(layout.lattice.local, mu).size();
  return layout.links_size() + sites * matrix_reals;
}

template <class Fields>
void fill_plain_links(double* links, const Layout& layout, const Fields& fields) {
  fill_links(links, layout, fields);
  double* to = links + layout.links_size();
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (!layout.lattice.cut(mu)) continue;
    each_site(Face(layout.lattice.local, mu).extents, [&](const Extents& x) {
      Extents global = layout.lattice.to_global(x);
      const double sign = fields.move(global, mu, -1);
      for (const Row& row : fields.link(global, mu))
        for (const Complex& z : row) *to++ = sign * z.re, *to++ = sign * z.im;
    });
  }
}

class PlainHop {
 public:
  static constexpr int lanes = 1;
  static void reduce(double* sums, int count) { fl::add_up(sums, count); }

  PlainHop(const Layout& layout, int) : layout_(layout) {
    for (std::size_t mu = 0; mu < 4; ++mu) add_face(mu);
    for (int target = 0; target < 2; ++target) list(target);
  }

  // As ScalarHop, and in the same order of operations. Collective.
  void apply(int target, const double* links, const double* psi, const double* centre, double* out, double a, double b) {
    const int other = 1 - target;
    exchange(other, psi);
    const double* beyond = arrived_.data();
    for (const Site& site : sites_[target]) {
      double sum[24] = {};
      fl::simd::unroll<4>([&](auto mu) {
        const auto at = [&](Index spinor) {
          const Index behind = spinor - layout_.half_volume;
          return behind < 0 ? psi + spinor * 24 : beyond + behind * 24;
        };
        double h[half_reals];
        project<mu, Rules::forward>(h, at(site.up[mu]));
        add_product<mu, Rules::forward, false>(sum, links + (site.here + target * layout_.half_volume) * 4 * 18 + mu * 18, h);
        project<mu, Rules::backward>(h, at(site.down[mu]));
        add_product<mu, Rules::backward, Rules::adjoint>(sum, links + site.link[mu] * 18, h);
      });
      const double* from = centre == nullptr ? nullptr : centre + site.here * 24;
      double* to = out + site.here * 24;
      for (int k = 0; k < 24; ++k) to[k] = from == nullptr ? b * sum[k] : a * from[k] + b * sum[k];
    }
  }

 private:
  // Spinors are counted within their parity; what comes from other processes is counted behind them.
  struct Site {
    Index here, up[4], down[4], link[4];  // link: of the neighbour before, among all links
  };
  // The exchange along one cut dimension.
  struct Cut {
    Face face;
    std::array<int, 2> processes;  // before, behind
    Index links;                   // number of the first link behind those of the block
    std::array<Index, 2> first;    // of what arrives from before and from behind, in spinors
    std::vector<Index> out[2][2];  // own sites to send to the process before and to that behind, by parity
    std::vector<Index> number;     // of a site of the face among those of its parity
    fl::Array<double> leaving;
  };

  void add_face(std::size_t mu) {
    const Extents& n = layout_.lattice.local;
    if (!layout_.lattice.cut(mu)) return;
    const Face face(n, mu);
    Cut cut{face, beside(layout_.lattice, mu), layout_.half_volume * 8, {}, {}, {}, fl::Array<double>(face.size() / 2 * 24)};
    if (!cuts_.empty()) cut.links = cuts_.back().links + cuts_.back().face.size();
    Index seen[2] = {0, 0};
    each_site(cut.face.extents, [&](Extents x) {
      cut.number.push_back(seen[lqcd::parity(x)]++);
      for (const std::size_t side : {0, 1}) {
        x[mu] = side == 0 ? 0 : n[mu] - 1;
        cut.out[side][lqcd::parity(x)].push_back(here(x));
      }
    });
    for (Index& first : cut.first) first = arriving_, arriving_ += cut.face.size() / 2;
    cuts_.push_back(std::move(cut));
    arrived_ = fl::Array<double>(arriving_ * 24);
  }

  Index here(const Extents& x) const { return layout_.outer_site(x) % layout_.half_volume; }

  const Cut* cut(std::size_t mu) const {
    for (const Cut& one : cuts_)
      if (one.face.mu == mu) return &one;
    return nullptr;
  }

  void list(int target) {
    const Extents& n = layout_.lattice.local;
    each_site(n, [&](const Extents& x) {
      if (lqcd::parity(x) != target) return;
      Site site{here(x), {}, {}, {}};
      for (std::size_t mu = 0; mu < 4; ++mu) {
        const Cut* edge = cut(mu);
        Extents up = x, down = x;
        up[mu] = (x[mu] + 1) % n[mu];
        down[mu] = (x[mu] - 1 + n[mu]) % n[mu];
        const bool last = edge != nullptr && x[mu] == n[mu] - 1, first = edge != nullptr && x[mu] == 0;
        const Index beside = edge == nullptr ? 0 : edge->number[static_cast<std::size_t>(edge->face.number(x))];
        site.up[mu] = last ? layout_.half_volume + edge->first[1] + beside : here(up);
        site.down[mu] = first ? layout_.half_volume + edge->first[0] + beside : here(down);
        site.link[mu] = first ? edge->links + edge->face.number(x) : layout_.outer_site(down) * 4 + static_cast<Index>(mu);
      }
      sites_[target].push_back(site);
    });
  }

  void exchange(int parity, const double* psi) {
    for (Cut& cut : cuts_)
      for (const std::size_t side : {0, 1}) {  // what arrives from before left the end of the process there
        const std::vector<Index>& sites = cut.out[1 - side][parity];
        double* to = cut.leaving.data();
        for (const Index site : sites) to = std::copy_n(psi + site * 24, 24, to);
        fl::shift(cut.leaving.data(), cut.leaving.size(), cut.processes[1 - side], cut.processes[side],
                  arrived_.data() + cut.first[side] * 24);
      }
  }

  const Layout& layout_;
  std::vector<Cut> cuts_;
  Index arriving_ = 0;
  fl::Array<double> arrived_;
  std::vector<Site> sites_[2];
};

}  // namespace lqcd
