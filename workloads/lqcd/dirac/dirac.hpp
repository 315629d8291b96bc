// dirac: the Wilson-Dirac operator of lattice QCD and the linear algebra around it (R5).
//
// D, or the even-odd preconditioned Dhat, or axpy, dot and norm of spinor fields. Fields are functions of the global index. What
// changes with the step is an overall factor, which scales every number of a result, and psi at sites that no step can know.
#pragma once

#include "../changed.hpp"
#include "../geometry.hpp"
#include "../reference.hpp"

namespace dirac {

using lqcd::Complex;
using lqcd::Extents;
using lqcd::Layout;
using lqcd::Traits;

enum class Op { d, dhat, axpy, dot, norm };  // in the order of their names below

struct Params : lqcd::Geometry {
  fl::Index bits = 64;
  Op op = Op::d;
  Params() { boundary = "periodic"; }
  void declare(fl::Fields& fields) {
    declare_extents(fields);
    fields.integer("bits", bits, "bit", 32, 64, "width of the numbers: 32 or 64");
    fields.choice("operator", op, "D|Dhat|axpy|dot|norm",
                  "Wilson-Dirac operator, even-odd preconditioned, or linear algebra of spinor fields");
    declare_boundary(fields);
    declare_processes(fields);
  }
};

inline bool is_operator(Op op) { return op == Op::d || op == Op::dhat; }

// The numbers of one precision, in the layout of the variant; only those arrays that the operation touches have elements.
template <class T>
struct Arrays {
  fl::Array<T> links, psi, chi, out;
  fl::Array<T> half;  // Dhat: H_oe psi on the odd sites, half as long as a spinor field
};

struct Corner {
  fl::Index at = 0;  // in psi
  std::array<double, lqcd::spinor_reals> value{};
};

struct State {
  fl::Team team;
  Op op = Op::d;
  fl::Index bits = 64;
  double scale = 1;  // of every result
  Layout layout;
  lqcd::GivenFields given;
  Arrays<float> singles;
  Arrays<double> doubles;
  std::array<Corner, 2> corners;  // the first and the last site of the block
  lqcd::ChangedSites changed_sites;
  fl::Index rounds = 0;               // of checks so far
  fl::Index renewed = -1;             // the last iteration before this batch
  Complex sum;                        // of dot and norm, over all processes
  void (*fetch)(State&) = nullptr;    // brings a result to `out` where it is elsewhere; called before every check
  void (*changed)(State&) = nullptr;  // of such a variant: takes psi anew, which changes between batches only
  void* object = nullptr;             // of a variant that does so
};

// body(arrays of the precision that this state has)
template <class Body>
[[gnu::always_inline]] inline auto in_precision(State& s, Body body) {
  return s.bits == 32 ? body(s.singles) : body(s.doubles);
}

inline constexpr fl::About about{
    .title = "Wilson-Dirac operator",
    .cost =
        "Flops per site as R5 counts them: D 1392, Dhat 1356, axpy 96, dot 96, norm 48. Bytes per site in 32 bit, without "
        "write-allocate: D 480, Dhat 816 (it reads the links twice), axpy 288, dot 192, norm 96. In 64 bit twice as many.",
    .verified =
        "D and Dhat, compared with dense gamma matrices in 64 bit and fields by global index: at every site of small lattices, at "
        "many sites of others. On 4^4 also norms and products, compared with reference values. axpy likewise; dot and norm are "
        "compared with long double.",
    .tolerance = "64 eps on components of about 1 to 10; norms on 4^4 4 eps, or 1e-12 if that is larger",
};

inline constexpr fl::Metric metrics[] = {
    {"speed", "Mflop/s", "operations", "rate", 1e-6, "higher"},
    {"time", "us", "elements", "time", 1e6, "lower"},
};

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  if (p.bits != 32 && p.bits != 64) return fl::text("dirac needs bits=32 or bits=64; %lld given", p.bits);
  return lqcd::refuse("dirac", p, team, traits, p.bits);
}

// Numbers that leave a process in one application of D or Dhat, as half spinors; as many arrive.
inline double sent(const Params& p, const fl::Team& team) {
  const lqcd::Lattice block = p.block(team);
  double faces = 0;  // sites
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (block.cut(mu)) faces += 2 * static_cast<double>(block.volume() / block.local[mu]);
  return is_operator(p.op) ? 12 * faces : 0;
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  constexpr double flops[] = {1392, 1356, 96, 96, 48}, words[] = {120, 204, 72, 48, 24}, kept[] = {120, 132, 72, 48, 24};
  const auto op = static_cast<std::size_t>(p.op);
  const auto sites = static_cast<double>(lqcd::product(p.global()));
  const double cores = static_cast<double>(team.ranks) * team.threads, bytes = static_cast<double>(p.bits) / 8;
  return {.flops = flops[op] * sites,
          .bytes = words[op] * bytes * sites,
          .operations = flops[op] * sites / cores,
          .flow = 2 * sent(p, team) * bytes,
          .elements = sites / cores,
          .working_set = kept[op] * bytes * sites / team.ranks};
}

template <class T>
void allocate(Arrays<T>& a, Op op, const Layout& layout) {
  const fl::Index size = layout.spinor_size();
  a.psi = fl::Array<T>(size);
  if (is_operator(op)) a.links = fl::Array<T>(layout.links_size());
  if (op == Op::dhat) a.half = fl::Array<T>(size / 2);
  if (op == Op::axpy || op == Op::dot) a.chi = fl::Array<T>(size);
  if (is_operator(op) || op == Op::axpy) a.out = fl::Array<T>(size);
}

inline Corner corner(const State& s, const Extents& x) {
  Corner c{s.layout.spinor(x), {}};
  std::size_t k = 0;
  for (const lqcd::Row& row : s.given.spinor(s.layout.lattice.to_global(x)))
    for (const Complex& z : row) c.value[k++] = z.re, c.value[k++] = z.im;
  return c;
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.op = p.op;
  s.bits = p.bits;
  s.layout = Layout(p.block(team), traits.lanes(p.bits));
  s.layout.colours_outside = traits.colours_outside;
  s.given = {p.global(), p.antiperiodic()};
  in_precision(s, [&](auto& a) { allocate(a, s.op, s.layout); });
  fl::first_touch(&s);
  in_precision(s, [&](auto& a) {
    if (a.links.size() > 0) lqcd::fill_links(a.links.data(), s.layout, s.given);
    lqcd::fill_spinor(a.psi.data(), s.layout, s.given, 0);
    if (a.chi.size() > 0) lqcd::fill_spinor(a.chi.data(), s.layout, s.given, 1);
  });
  const Extents last{s.layout.lattice.local[0] - 1, s.layout.lattice.local[1] - 1, s.layout.lattice.local[2] - 1,
                     s.layout.lattice.local[3] - 1};
  s.corners = {corner(s, {}), corner(s, last)};
  s.changed_sites = lqcd::ChangedSites(s.layout, s.given, lqcd::Change::much, s.op == Op::dhat);
}

// Where several processes exchange, the first and the last site of every block change with the step too: each message carries one of
// them, so that none may be left out or come late. Not on 4^4, whose results are published.
inline bool turns(const State& s) { return is_operator(s.op) && s.team.ranks > 1 && s.given.global != Extents{4, 4, 4, 4}; }

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.scale = fl::step_factor(iteration);
  if (s.changed == nullptr) in_precision(s, [&](auto& a) { s.changed_sites.mutate_inputs(a.psi.data(), s.layout, iteration); });
  if (!turns(s)) return;
  const auto size = static_cast<std::size_t>(lqcd::spinor_reals);
  in_precision(s, [&](auto& a) {
    for (const Corner& c : s.corners)
      for (std::size_t k = 0; k < size; ++k)
        a.psi[c.at + static_cast<fl::Index>(k) * s.layout.lanes] = static_cast<std::decay_t<decltype(a.psi[0])>>(c.value[k] / s.scale);
  });
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  const fl::Index first = in_precision(s, [&](auto& a) { return s.changed_sites.mutate_between_batches(a.psi.data(), s.layout, next); });
  s.renewed = first - 1;
  if (s.changed != nullptr) s.changed(s);
  return first;
}

// axpy: out = scale * factor * psi + chi.
inline constexpr Complex factor{0.75, -0.5};

inline void poison(State& s) {
  fl::poison(&s.sum.re, 1);
  fl::poison(&s.sum.im, 1);
  in_precision(s, [](auto& a) {
    fl::poison(a.out.data(), a.out.size());
    fl::poison(a.half.data(), a.half.size());
  });
}

}  // namespace dirac

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
