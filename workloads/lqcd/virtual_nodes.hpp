// The hopping term on virtual nodes: each SIMD lane works on a sub-lattice of its own, so that a site costs no shuffles at all except
// at the edges of sub-lattices. (The idea is that of the QCD library Grid: P. Boyle et al., arXiv:1512.03487.)
//
//   out(x) = a centre(x) + b * sum over mu of [ (1 - g_mu) U_mu(x) psi(x+mu) + (1 + g_mu) U_mu^+(x-mu) psi(x-mu) ]
//
// D is a = 4 + m0, b = -1/2, centre = psi. Layout: see layout.hpp, with Layout::lanes == lanes<T> here. This file is compiled with the
// flags under test: only variants include it, never a header that the judge sees.
//
// One process:
//   Hop<T> job{&layout, links};  and psi, centre, out (by parity), a, b
//   hop<true>(job, runs(layout, both));                       D; hop<false> leaves the term of `centre` out
//
// Several processes. A dimension is cut where its neighbours belong to other processes: give Halo::forward[mu] and backward[mu] for it,
// and only for it (a process that is its own neighbour may exchange with itself or leave both null).
//   Index n = face_reals(layout, mu);                         reals of one message for one target parity
//   pack<T>(layout, links, psi, mu, -1, parity, buffer);      to the process at mu-1, which uses it as halo.forward[mu]
//   pack<T>(layout, links, psi, mu, +1, parity, buffer);      to the process at mu+1, which uses it as halo.backward[mu]
//   hop<true>(job, runs(layout, both, interior));             needs no halo
//   hop<true>(job, runs(layout, both, boundary));             after the halos have arrived
// `parity` is that of the sites that receive, so psi[1 - parity] is sent. Halo pointers hold target parity 0 first, then 1, each
// face_reals long; for Dhat, where only one parity is exchanged at a time, halo.only is the one in the buffer.
// A face site is 12 vectors, the half spinor after projection, in the backward direction after multiplication by U^+ too. Vectors
// have lanes / split[mu] numbers: those of the sub-lattices at the face, the others never leave the process.
#pragma once

#include <vector>

#include "firstlight/nontemporal.hpp"
#include "half.hpp"
#include "layout.hpp"
#include "runs.hpp"

namespace lqcd {

template <class T>
using Vector = fl::simd::native<T>;
template <class T>
inline constexpr int lanes = fl::simd::width<T>;

// --- lanes --------------------------------------------------------------------------------------------------------------

namespace detail {

// Lane l of the result is the lane whose digit in a dimension of that stride and split is `step` further.
constexpr int lane_from(int lane, int stride, int split, int step) {
  const int digit = lane / stride % split;
  return lane + ((digit + step + split) % split - digit) * stride;
}

template <int stride, int split, int step, class V, int... l>
[[gnu::always_inline]] inline V shifted(const V& v, std::integer_sequence<int, l...>) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(v, v, lane_from(l, stride, split, step)...);
#else
  return V{v[lane_from(l, stride, split, step)]...};
#endif
}

template <class T, int stride, int split, int step>
[[gnu::noinline]] void shift_half(T* h) {
  if constexpr (stride * split <= lanes<T>)
    for (int k = 0; k < half_reals; ++k) {
      const auto v = fl::simd::load<Vector<T>>(h + k * lanes<T>);
      fl::simd::store(h + k * lanes<T>, shifted<stride, split, step>(v, std::make_integer_sequence<int, lanes<T>>()));
    }
}

template <class T, int split, int step>
void shift_half(T* h, Index stride) {
  if (stride == 1) return shift_half<T, 1, split, step>(h);
  if (stride == 2) return shift_half<T, 2, split, step>(h);
  if (stride == 4) return shift_half<T, 4, split, step>(h);
  shift_half<T, 8, split, step>(h);
}

template <class T>
void shift_half(T* h, Index stride, Index split, int step) {
  if (split == 2) return shift_half<T, 2, 1>(h, stride);
  if (step > 0) return shift_half<T, 4, 1>(h, stride);
  shift_half<T, 4, -1>(h, stride);
}

// visit(lane, number in the message) for the lanes whose digit in mu is `digit`
template <class Visit>
inline void each_face_lane(const Layout& layout, std::size_t mu, Index digit, Visit visit) {
  const Index stride = layout.stride[mu], split = layout.split[mu];
  for (Index k = 0; k < layout.lanes / split; ++k) visit(k / stride * stride * split + digit * stride + k % stride, k);
}

}  // namespace detail

// --- faces --------------------------------------------------------------------------------------------------------------

// Reals of the message in dimension mu for one target parity.
inline Index face_reals(const Layout& layout, std::size_t mu) {
  return layout.half_volume / layout.outer[mu] * half_reals * (layout.lanes / layout.split[mu]);
}

// Number of a face site among those of its parity; k counts half rows.
inline Index face_site(const Layout& layout, std::size_t mu, const Extents& x, Index k) {
  const Extents& n = layout.outer;
  switch (mu) {
    case 0:
      return (x[1] * n[2] + x[2]) * layout.half_row + k;
    case 1:
      return (x[0] * n[2] + x[2]) * layout.half_row + k;
    case 2:
      return (x[0] * n[1] + x[1]) * layout.half_row + k;
    default:
      return ((x[0] * n[1] + x[1]) * n[2] + x[2]) / 2;
  }
}

template <class T>
struct Halo {
  const T* forward[4]{};
  const T* backward[4]{};
  int only = 2;  // 2: buffers hold both target parities, 0 first; 0 or 1: only that one

  const T* at(const T* buffer, const Layout& layout, std::size_t mu, int parity, Index face_site) const {
    return buffer + (only == 2 ? parity * face_reals(layout, mu) : 0) + face_site * half_reals * (layout.lanes / layout.split[mu]);
  }
};

template <class T>
struct Hop {
  const Layout* layout;
  const T* links;
  const T* psi[2]{};  // even sites, odd sites; only the parity that the targets read need be there
  const T* centre[2]{};
  T* out[2]{};
  Halo<T> halo{};
  T a = 0, b = 0;
  bool streaming = false;  // fields come from memory: prefetch them, store past the caches
};

namespace detail {

// What an outer site some steps further in its row needs and no cache near the core has. It is requested in pieces between the
// arithmetic and into the second-level cache: requested all at once, or into the first level with its few fill buffers, it waits for
// its turn and the arithmetic behind it.
template <class T>
struct Ahead {
  static constexpr Index steps = 4, vector = lanes<T> * static_cast<Index>(sizeof(T));  // in bytes
  const T *links, *up_t;                                                                // of every site where fields come from memory
  const T *up_x = nullptr, *down_t = nullptr, *links_down_t = nullptr;                  // where slices do not stay in the cache, too

  // Prefetches a piece of everything; there are eight pieces.
  template <int piece>
  [[gnu::always_inline]] void prefetch() const {
    lines<piece, 4 * 18>(links);
    lines<piece, 24>(up_t);
    if (up_x == nullptr) return;
    lines<piece, 24>(up_x);
    lines<piece, 24>(down_t);
    lines<piece, 18>(links_down_t);
  }

 private:
  template <int piece, Index vectors>
  [[gnu::always_inline]] static void lines(const T* from) {
    constexpr Index line = 64, first = (piece * vectors * vector / 8 + line - 1) / line,
                    last = ((piece + 1) * vectors * vector / 8 + line - 1) / line;
    fl::simd::unroll<last - first>([&](auto k) __attribute__((always_inline)) {
      __builtin_prefetch(reinterpret_cast<const char*>(from) + (first + k) * line, 0, 2);
    });
  }
};

// Which fields a hop has to wait for.
enum class Far { none, fresh, slices };

template <class T>
struct Ready {
  static constexpr int size = half_reals * lanes<T>;
  const T* from[8]{};  // the half spinor of that direction where it is not simply a neighbour's; 2 mu forward, 2 mu + 1 backward
  alignas(64) T room[8][size];
};

// The term of one direction at an edge: of the same lane's sub-lattice, moved to the adjacent lane; of the halo, where there is one.
template <int mu, int step, class T>
[[gnu::noinline]] void prepare(const Hop<T>& job, int parity, const Extents& x, Index k, const T* psi, const T* links, Ready<T>& ready) {
  const Layout& layout = *job.layout;
  const T* buffer = step > 0 ? job.halo.forward[mu] : job.halo.backward[mu];
  const T* arrived = buffer == nullptr ? nullptr : job.halo.at(buffer, layout, mu, parity, face_site(layout, mu, x, k));
  constexpr int d = 2 * mu + (step > 0 ? 0 : 1);
  if (arrived != nullptr && layout.split[mu] == 1) {
    ready.from[d] = arrived;
    return;
  }
  using V = Vector<T>;
  T* room = ready.room[d];
  V h[half_reals];
  project<mu, -step>(h, psi);
  if constexpr (step > 0) {
    fl::simd::unroll<half_reals>([&](auto i) __attribute__((always_inline)) { fl::simd::store(room + i * lanes<T>, h[i]); });
  } else {
    fl::simd::unroll<3>([&](auto colour) __attribute__((always_inline)) {
      V r[4];
      multiply_row<true, colour>(r, links, h);
      fl::simd::unroll<4>([&](auto i) __attribute__((always_inline)) {
        fl::simd::store(room + ((i / 2 * 3 + colour) * 2 + i % 2) * lanes<T>, r[i]);
      });
    });
  }
  shift_half(room, layout.stride[mu], layout.split[mu], step);
  if (arrived != nullptr)
    each_face_lane(layout, mu, step > 0 ? layout.split[mu] - 1 : 0, [&](Index lane, Index from) {
      for (int i = 0; i < half_reals; ++i) room[i * lanes<T> + lane] = arrived[i * (layout.lanes / layout.split[mu]) + from];
    });
  ready.from[d] = room;
}

// One run: everything that is the same along a row is found once.
// Flags of the job, not of the compiler: four of these would compile four times as long and would not be faster.
template <class T>
[[gnu::noinline]] void hop_run(const Hop<T>& job, const Run& run, bool with_centre, bool streaming, Far far) {
  using V = Vector<T>;
  constexpr Index w = lanes<T>, site_reals = 24 * w, link_reals = 18 * w;
  const Layout& layout = *job.layout;
  const Extents& n = layout.outer;
  const Extents x{run.row / (n[1] * n[2]), run.row / n[2] % n[1], run.row % n[2], 0};
  const Index half_row = layout.half_row, parity = run.parity, other = 1 - parity;
  const Index shift = (x[0] + x[1] + x[2] + parity) & 1;  // z = 2 k + shift
  const Index row_step[3] = {n[1] * n[2], n[2], 1};
  const T* psi = job.psi[other];
  const T* links_here = job.links + parity * layout.half_volume * 4 * link_reals;
  const T* links_other = job.links + other * layout.half_volume * 4 * link_reals;
  Index up[3], down[3];  // first site of the neighbouring rows
  bool up_edge[4], down_edge[4], any = false;
  fl::simd::unroll<4>([&](auto mu) {
    const bool edges = layout.split[mu] > 1 || job.halo.forward[mu] != nullptr;
    if constexpr (mu < 3) {
      const bool last = x[mu] == n[mu] - 1, first = x[mu] == 0;
      up[mu] = (run.row + (last ? 1 - n[mu] : 1) * row_step[mu]) * half_row;
      down[mu] = (run.row + (first ? n[mu] - 1 : -1) * row_step[mu]) * half_row;
      up_edge[mu] = edges && last;
      down_edge[mu] = edges && first;
      any = any || up_edge[mu] || down_edge[mu];
    } else {
      up_edge[mu] = edges && shift == 1;
      down_edge[mu] = edges && shift == 0;
    }
  });
  const V a = job.a / job.b - V{}, b = job.b - V{};
  Ready<T> ready;
  for (Index k = run.first; k < run.first + run.count; ++k) {
    const Index here = run.row * half_row + k;
    const Index z_up = run.row * half_row + (shift == 0 ? k : k == half_row - 1 ? 0 : k + 1);
    const Index z_down = run.row * half_row + (shift == 1 ? k : k == 0 ? half_row - 1 : k - 1);
    const auto forward = [&](auto mu) __attribute__((always_inline)) {
      if constexpr (mu < 3)
        return up[mu] + k;
      else
        return z_up;
    };
    const auto backward = [&](auto mu) __attribute__((always_inline)) {
      if constexpr (mu < 3)
        return down[mu] + k;
      else
        return z_down;
    };
    if (any || (up_edge[3] && k == half_row - 1) || (down_edge[3] && k == 0)) [[unlikely]]
      fl::simd::unroll<4>([&](auto mu) {
        constexpr int m = mu;
        ready.from[2 * m] = ready.from[2 * m + 1] = nullptr;
        if (up_edge[m] && (m < 3 || k == half_row - 1))
          prepare<m, 1>(job, static_cast<int>(parity), x, k, psi + forward(mu) * site_reals, job.links, ready);
        if (down_edge[m] && (m < 3 || k == 0))
          prepare<m, -1>(job, static_cast<int>(parity), x, k, psi + backward(mu) * site_reals,
                         links_other + (backward(mu) * 4 + m) * link_reals, ready);
      });
    else
      for (const T*& from : ready.from) from = nullptr;
    Ahead<T> ahead{links_here + (here + Ahead<T>::steps) * 4 * link_reals, psi + (up[0] + k + Ahead<T>::steps) * site_reals};
    if (far == Far::slices) {
      ahead.up_x = psi + (up[1] + k + Ahead<T>::steps) * site_reals;
      ahead.down_t = psi + (down[0] + k + Ahead<T>::steps) * site_reals;
      ahead.links_down_t = links_other + (down[0] + k + Ahead<T>::steps) * 4 * link_reals;
    }
    V sum[24];
    if (with_centre)
      fl::simd::unroll<24>([&](auto i) __attribute__((always_inline)) {
        sum[i] = a * fl::simd::load<V>(job.centre[parity] + here * site_reals + i * w);
      });
    else
      fl::simd::unroll<24>([&](auto i) __attribute__((always_inline)) { sum[i] = V{}; });
    fl::simd::unroll<4>([&](auto mu) __attribute__((always_inline)) {
      constexpr int m = mu;
      V h[half_reals];
      if (far != Far::none) ahead.template prefetch<2 * m>();
      if (ready.from[2 * m] == nullptr) [[likely]]
        project<m, -1>(h, psi + forward(mu) * site_reals);
      else
        fl::simd::unroll<half_reals>([&](auto i) __attribute__((always_inline)) { h[i] = fl::simd::load<V>(ready.from[2 * m] + i * w); });
      add_product<m, -1, false>(sum, links_here + (here * 4 + m) * link_reals, h);
      if (far != Far::none) ahead.template prefetch<2 * m + 1>();
      if (ready.from[2 * m + 1] == nullptr) [[likely]] {
        project<m, 1>(h, psi + backward(mu) * site_reals);
        add_product<m, 1, true>(sum, links_other + (backward(mu) * 4 + m) * link_reals, h);
      } else {
        fl::simd::unroll<half_reals>([&](auto i)
                                         __attribute__((always_inline)) { h[i] = fl::simd::load<V>(ready.from[2 * m + 1] + i * w); });
        add_half<m, 1>(sum, h);
      }
    });
    T* out = job.out[parity] + here * site_reals;
    if (streaming)
      fl::simd::unroll<24>([&](auto i) __attribute__((always_inline)) { fl::nontemporal::store(out + i * w, V{b * sum[i]}); });
    else
      fl::simd::unroll<24>([&](auto i) __attribute__((always_inline)) { fl::simd::store(out + i * w, b * sum[i]); });
  }
}

}  // namespace detail

// The runs first .. last - 1: threads and overlapping communication take parts of a list.
template <bool with_centre, class T>
void hop(const Hop<T>& job, const Run* first, const Run* last) {
  using detail::Far;
  const bool streaming = job.streaming && fl::nontemporal::available;
  const Far far = !job.streaming ? Far::none : blocks(*job.layout, sizeof(T)).slices_fit ? Far::fresh : Far::slices;
  for (; first != last; ++first) detail::hop_run(job, *first, with_centre, streaming, far);
  if (streaming) fl::nontemporal::fence();
}
template <bool with_centre, class T>
void hop(const Hop<T>& job, const std::vector<Run>& list) {
  hop<with_centre>(job, list.data(), list.data() + list.size());
}

namespace detail {

// Step -1: (1 - g) psi of the first slice; step +1: U^+ (1 + g) psi of the last one.
template <int mu, int step, class T>
void pack_face(const Layout& layout, const T* links, const T* psi, int parity, T* buffer) {
  constexpr Index w = lanes<T>;
  const Index at = step > 0 ? layout.outer[mu] - 1 : 0, per_vector = w / layout.split[mu];
  const int mine = 1 - parity;
  Extents n = layout.outer;
  n[mu] = 1;
  alignas(64) T room[half_reals * w];
  each_site(n, [&](Extents x) {
    x[mu] = at;
    if (lqcd::parity(x) != mine) return;
    const Index k = x[3] / 2, site = ((x[0] * layout.outer[1] + x[1]) * layout.outer[2] + x[2]) * layout.half_row + k;
    Vector<T> h[half_reals];
    project<mu, step>(h, psi + site * 24 * w);
    T* to = buffer + face_site(layout, mu, x, k) * half_reals * per_vector;
    T* whole = layout.split[mu] == 1 ? to : room;
    if constexpr (step < 0) {
      fl::simd::unroll<half_reals>([&](auto i) __attribute__((always_inline)) { fl::simd::store(whole + i * w, h[i]); });
    } else {
      const T* u = links + ((mine * layout.half_volume + site) * 4 + mu) * 18 * w;
      fl::simd::unroll<3>([&](auto colour) __attribute__((always_inline)) {
        Vector<T> r[4];
        multiply_row<true, colour>(r, u, h);
        fl::simd::unroll<4>([&](auto i)
                                __attribute__((always_inline)) { fl::simd::store(whole + ((i / 2 * 3 + colour) * 2 + i % 2) * w, r[i]); });
      });
    }
    if (whole == to) return;
    each_face_lane(layout, mu, step > 0 ? layout.split[mu] - 1 : 0, [&](Index lane, Index number) {
      for (int i = 0; i < half_reals; ++i) to[i * per_vector + number] = room[i * w + lane];
    });
  });
}

}  // namespace detail

// The message for the process in direction mu, step -1 or +1, that its sites of target parity `parity` need. psi: even, odd sites.
template <class T>
void pack(const Layout& layout, const T* links, const T* const (&psi)[2], int mu, int step, int parity, T* buffer) {
  fl::simd::unroll<4>([&](auto m) {
    if (m != mu) return;
    if (step < 0)
      detail::pack_face<m, -1>(layout, links, psi[1 - parity], parity, buffer);
    else
      detail::pack_face<m, 1>(layout, links, psi[1 - parity], parity, buffer);
  });
}

}  // namespace lqcd
