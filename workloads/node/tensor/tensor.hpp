// tensor: the rate of the units of a GPU that multiply small matrices, by the format of their numbers.
//
// C += A B and C += (E - A) B alternate, so C grows by E B in each pair and stays small. All numbers are whole and so small that every format
// and every sum represents them exactly. E follows the step and the lap; each lap adds its C to a sum.
#pragma once

#include <array>
#include <vector>

#include "firstlight/host_device.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace tensor {

enum class Format { fp64, tf32, fp16, bf16, fp8 };  // in the order of their names below

struct Params {
  Format format = Format::fp16;
  void declare(fl::Fields& fields) {
    fields.choice("format", format, "fp64|tf32|fp16|bf16|fp8", "of the numbers in A and B; sums are of 32 bit, or of 64 with fp64");
  }
};

// A tile is one product of a warp: A has `rows` rows and `depth` columns, B `columns` columns.
struct Tile {
  int rows, depth;
};
FL_DEVICE constexpr Tile tile(Format format) {
  return format == Format::fp64 ? Tile{8, 4} : format == Format::tf32 ? Tile{16, 8} : format == Format::fp8 ? Tile{16, 32} : Tile{16, 16};
}
inline constexpr int columns = 8, chains = 8;  // chains: tiles of C side by side, each with a sum of its own
inline constexpr int width = columns * chains;
inline constexpr int pairs = 128, laps = 32;

// Each has tiles of its own: one core, or the warps of a device.
inline constexpr int device_parties = 4096;
inline fl::Index parties() { return fl::variant.device != nullptr ? device_parties : 1; }

struct State {
  Format format = Format::fp16;
  fl::Array<float> out;     // of each party rows x width
  std::uint32_t shift = 0;  // follows the iteration
  // Variants on a device set these. fetch() copies the sums from the device before a check; poisoned() poisons them there after poison().
  void (*fetch)(State&) = nullptr, (*poisoned)(State&) = nullptr;
  void* object = nullptr;  // of theirs
};

inline constexpr fl::About about{
    .title = "Tensor units",
    .cost =
        "32 laps of 256 products of a tile A and 8 tiles B of 8 columns, in one core or in each of 4096 warps of a GPU. "
        "A multiply-add is 2 flops. A is 16 x 8 with tf32, 16 x 16 with fp16 and bf16, 16 x 32 with fp8, 8 x 4 with fp64. Only the sums "
        "are stored.",
    .verified = "Every sum, compared with its value in whole numbers",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

inline std::string refuse(const Params&, const fl::Team&) { return ""; }

// Spreads the bits of a number over all bits (C. Wellons's lowbias32).
FL_DEVICE constexpr std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ x >> 16;
}

// Elements: -2 to 2 in A, 0 or 1 in E, -1 to 1 in B, which all parties share.
FL_DEVICE constexpr std::uint32_t place(std::uint32_t party, int i, int k) { return party << 9 | static_cast<std::uint32_t>(i << 5 | k); }
FL_DEVICE constexpr int a_value(std::uint32_t party, int i, int k) { return static_cast<int>(mixed(place(party, i, k)) % 5) - 2; }
FL_DEVICE constexpr int e_value(std::uint32_t party, int i, int k, std::uint32_t shift) {
  return static_cast<int>(mixed(place(party, i, k) ^ shift) >> 31);
}
FL_DEVICE constexpr int b_value(int k, int j) {
  return static_cast<int>(mixed(0x80000000u | static_cast<std::uint32_t>(k << 6 | j)) % 3) - 1;
}

inline std::uint32_t shift_value(fl::Index iteration) {
  return static_cast<std::uint32_t>(fl::hash(static_cast<std::uint64_t>(iteration)) >> 32);
}
FL_DEVICE constexpr std::uint32_t shift_of_lap(std::uint32_t shift, int lap) {
  return shift + static_cast<std::uint32_t>(lap) * 0x9E3779B9u;
}

inline void init(State& s, const Params& p, const fl::Team&) {
  s.format = p.format;
  s.out = fl::Array<float>(parties() * tile(p.format).rows * width);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const Tile t = tile(p.format);
  const double products = 2.0 * pairs * laps * static_cast<double>(parties()) * team.ranks;
  return {.flops = 2.0 * t.rows * t.depth * width * products, .working_set = 4.0 * t.rows * width};
}

inline void mutate_inputs(State& s, fl::Index iteration) { s.shift = shift_value(iteration); }

inline void poison(State& s) {
  fl::poison(s.out.data(), s.out.size());
  if (s.poisoned != nullptr) s.poisoned(s);
}

inline fl::Check check(State& s, fl::Index last) {
  if (s.fetch != nullptr) s.fetch(s);
  const int rows = tile(s.format).rows, depth = tile(s.format).depth;
  std::vector<int> b(static_cast<std::size_t>(depth * width));
  for (int k = 0; k < depth; ++k)
    for (int j = 0; j < width; ++j) b[static_cast<std::size_t>(k * width + j)] = b_value(k, j);
  fl::Index wrong = 0, where = 0;
  double found = 0, expected = 0;
  for (fl::Index row = 0; row < parties() * rows; ++row) {
    std::array<int, width> sum{};
    for (int k = 0; k < depth; ++k) {
      int e = 0;  // of all laps together
      for (int lap = 0; lap < laps; ++lap)
        e += e_value(static_cast<std::uint32_t>(row / rows), static_cast<int>(row % rows), k, shift_of_lap(shift_value(last), lap));
      for (int j = 0; j < width; ++j) sum[static_cast<std::size_t>(j)] += e * b[static_cast<std::size_t>(k * width + j)];
    }
    for (int j = 0; j < width; ++j) {
      const auto value = static_cast<double>(s.out[row * width + j]),
                 wanted = static_cast<double>(pairs * sum[static_cast<std::size_t>(j)]);
      if (value == wanted || wrong++ > 0) continue;
      where = row * width + j;
      found = value;
      expected = wanted;
    }
  }
  return fl::Check::of(static_cast<double>(wrong), 0,
                       wrong == 0 ? fl::text("all %lld sums are right", s.out.size())
                                  : fl::text("%lld of %lld sums are wrong, the first at index %lld: %.9g, should be %.9g", wrong,
                                             s.out.size(), where, found, expected));
}

}  // namespace tensor
