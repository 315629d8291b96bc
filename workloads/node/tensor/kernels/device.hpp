// The registers of one thread of a warp: which elements of a tile they contain (PTX ISA, "Matrix multiply-accumulate instructions", the
// shapes m8n8k4 of f64 and m16n8k8, m16n8k16, m16n8k32). One body for the device and for the host.
#pragma once

#include <type_traits>

#include "firstlight/cuda.hpp"
#include "tensor.hpp"

namespace tensor {

template <Format f>
struct Registers {
  static constexpr bool wide = f == Format::fp64;
  using Register = std::conditional_t<wide, double, std::uint32_t>;
  using Number = std::conditional_t<wide, double, float>;
  static constexpr int packed = wide ? 1 : tile(f).depth / 8;  // elements in a register
  static constexpr int of_a = wide ? 1 : 4, of_b = wide ? 1 : 2, of_c = wide ? 2 : 4;
};

// The bits of a whole number from -3 to 3.
template <Format f>
FL_DEVICE constexpr std::uint32_t bits(int value) {
  constexpr int size = 32 / Registers<f>::packed, mantissa = f == Format::tf32 ? 23 : f == Format::fp16 ? 10 : f == Format::bf16 ? 7 : 3;
  constexpr std::uint32_t bias = f == Format::fp16 ? 15 : f == Format::fp8 ? 7 : 127;
  if (value == 0) return 0;
  const std::uint32_t sign = value < 0 ? 1 : 0, magnitude = static_cast<std::uint32_t>(value < 0 ? -value : value);
  return sign << (size - 1) | (bias + (magnitude >> 1)) << mantissa | (magnitude == 3 ? 1u << (mantissa - 1) : 0u);
}

// A register with `packed` elements from the first one on.
template <Format f, class Value>
FL_DEVICE typename Registers<f>::Register pack(const Value& value, int first) {
  if constexpr (f == Format::fp64) {
    return value(first);
  } else {
    std::uint32_t word = 0;
    for (int n = 0; n < Registers<f>::packed; ++n) word |= bits<f>(value(first + n)) << (n * (32 / Registers<f>::packed));
    return word;
  }
}

struct ElementsOfA {
  std::uint32_t party = 0;
  FL_DEVICE int operator()(int i, int k) const { return a_value(party, i, k); }
};

// Of E - A.
struct ElementsOfOther {
  std::uint32_t party = 0, shift = 0;
  FL_DEVICE int operator()(int i, int k) const { return e_value(party, i, k, shift) - a_value(party, i, k); }
};

// Register r of the tile of A whose elements are value(i, k), in thread `lane` of a warp.
template <Format f, class Value>
FL_DEVICE typename Registers<f>::Register a_register(const Value& value, int lane, int r) {
  constexpr int packed = Registers<f>::packed;
  const int i = lane / 4 + 8 * (r & 1);
  return pack<f>([&](int k) { return value(i, k); }, packed * (lane % 4) + 4 * packed * (r >> 1));
}

// Register r of tile `chain` of B.
template <Format f>
FL_DEVICE typename Registers<f>::Register b_register(int chain, int lane, int r) {
  constexpr int packed = Registers<f>::packed;
  return pack<f>([&](int k) { return b_value(k, columns * chain + lane / 4); }, packed * (lane % 4) + 4 * packed * r);
}

// Where register r of a tile of C is.
struct Position {
  int i, j;
};
FL_DEVICE constexpr Position c_position(int lane, int r) { return {lane / 4 + 8 * (r >> 1), 2 * (lane % 4) + (r & 1)}; }

}  // namespace tensor
