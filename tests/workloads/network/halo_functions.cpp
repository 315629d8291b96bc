// Exports the pure functions of workloads/network/halo with C linkage for tests.
#include <cstdio>

#include "../../support/heap.hpp"
#include "judge.hpp"

namespace {
std::uint64_t drawn = 1;
}

namespace fl {
Index saved_before = -1;
std::uint64_t seed() { return drawn; }
void first_touch(void*) {}
Check Check::of(double error, double tolerance, std::string what) { return {error <= tolerance, error, tolerance, std::move(what)}; }
std::string text(const char*, ...) { return "text"; }
void run_steps(Index, Index) {}
}  // namespace fl

namespace {

constexpr halo::Traits traits{.at_once = HALO_AT_ONCE};

halo::Params params(long long n, long long width, long long word, long long rows) {
  halo::Params p;
  p.n = n;
  p.width = width;
  p.word = word;
  p.rows = rows;
  return p;
}

}  // namespace

extern "C" {

void grid(int parties, long long rows, int* out) {
  const halo::Grid g = halo::grid_of(parties, rows);
  out[0] = g.rows;
  out[1] = g.columns;
}

int neighbour(int parties, long long rows, int party, int way) { return halo::grid_of(parties, rows).neighbour(party, way); }

// 1 where these parameters are refused
int refused(long long n, long long width, long long word, long long rows, int ranks) {
  return halo::refuse(params(n, width, word, rows), {.rank = 0, .ranks = ranks}, traits).empty() ? 0 : 1;
}

// messages, message_bytes, bytes, flow
void cost(long long n, long long width, long long word, long long rows, int ranks, double* out) {
  const fl::Cost c = halo::cost(params(n, width, word, rows), {.rank = 0, .ranks = ranks}, traits);
  out[0] = c.messages;
  out[1] = c.message_bytes;
  out[2] = c.bytes;
  out[3] = c.flow;
}

// first row, first column, rows, columns of the cells sent (0), received (1), sent in two phases (2), received in two phases (3) in that direction
void region(long long n, long long width, int kind, int way, long long* out) {
  const halo::Shape s{n, width, n + 2 * width, 8};
  const halo::Region r = kind == 0   ? halo::boundary(s, way)
                         : kind == 1 ? halo::ghost(s, way)
                         : kind == 2 ? halo::outgoing(s, way)
                                     : halo::incoming(s, way);
  out[0] = r.row;
  out[1] = r.column;
  out[2] = r.rows;
  out[3] = r.columns;
}

std::uint64_t word_at(int bytes, long long row, long long column, long long iteration) {
  return halo::word(halo::Shape{1, 1, 3, bytes}, halo::place(row, column) + halo::moment(iteration));
}

// Words of one process's interior that are not of the age that they should have after so many touches; the halo is not looked at.
long long wrong_ages(long long n, long long width, long long word, long long first, long long touches, long long* new_words) {
  drawn = static_cast<std::uint64_t>(first);  // other places in each launch
  halo::State s;
  halo::init(s, params(n, width, word, 0), {}, {});
  halo::Domain& d = s.domains[0];
  for (long long k = 0; k < touches; ++k) halo::mutate_inputs(s, d, first + k);
  long long wrong = 0;
  *new_words = 0;
  for (long long row = 0; row < n; ++row) {
    for (long long column = 0; column < n; ++column) {
      const long long when = halo::age(s, d, row, column, first + touches - 1);
      if (halo::load(s, d.field, row + width, column + width) != halo::word(s, halo::place(row, column) + halo::moment(when))) ++wrong;
      if (when != s.filled) ++*new_words;
    }
  }
  return wrong;
}

// Bytes of a field that packing a region and unpacking it elsewhere does not move as it should.
long long wrong_bytes(long long n, long long width, int word, int way) {
  const halo::Shape s{n, width, n + 2 * width, word};
  const halo::Region out = halo::outgoing(s, way), in = halo::incoming(s, way);
  const auto size = static_cast<std::size_t>(s.pitch * s.pitch * word);
  std::vector<std::uint64_t> from_words(size / 8 + 1), to_words(size / 8 + 1), direct_words(size / 8 + 1), box_words(size / 8 + 1);
  auto* from = reinterpret_cast<unsigned char*>(from_words.data());
  auto* to = reinterpret_cast<unsigned char*>(to_words.data());
  auto* direct = reinterpret_cast<unsigned char*>(direct_words.data());
  auto* box = reinterpret_cast<unsigned char*>(box_words.data());
  for (std::size_t k = 0; k < size; ++k) from[k] = static_cast<unsigned char>(fl::hash(k));
  halo::pack(s, from, out, box);
  halo::unpack(s, box, to, in);
  halo::copy(s, from, out, direct, in);
  long long wrong = 0;
  for (long long row = 0; row < s.pitch; ++row) {
    for (long long byte = 0; byte < s.pitch * word; ++byte) {
      const long long r = row - in.row, c = byte - in.column * word;
      const bool inside = r >= 0 && r < in.rows && c >= 0 && c < in.columns * word;
      const unsigned char wanted = inside ? from[(out.row + r) * s.pitch * word + out.column * word + c] : 0;
      const long long at = row * s.pitch * word + byte;
      wrong += (to[at] != wanted) + (direct[at] != wanted);
    }
  }
  return wrong;
}
}
