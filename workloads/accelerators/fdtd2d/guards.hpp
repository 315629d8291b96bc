// The bytes before the first number of a field and behind its last one, which no code may write: what strays by a row or a vector is
// detected. They hold signalling NaNs: whatever is computed from one is a quiet NaN, so that an update in place shows, too.
#pragma once

#include <cstring>
#include <limits>

#include "fdtd2d.hpp"

namespace fdtd2d {

// visit(the number at that address) of both guards; a field that this problem lacks has none.
template <class T, class Visit>
void each_of_guards(grid::Field<T, 2>& field, const Visit& visit) {
  auto& memory = field.memory();
  if (memory.size() == 0) return;
  for (unsigned char* guard : {memory.data(), memory.data() + memory.size() - field.guard})
    for (Index k = 0; k < field.guard; k += static_cast<Index>(sizeof(T))) visit(guard + k);
}

inline void poison_guards(State& s) {
  in_precision(s, []<class T>(Numbers<T>& a) {
    constexpr T stray = std::numeric_limits<T>::signaling_NaN();
    for (auto* each : a.written()) each_of_guards(*each, [&](unsigned char* number) { std::memcpy(number, &stray, sizeof(T)); });
  });
}

inline bool guards_are_whole(State& s) {
  return in_precision(s, []<class T>(Numbers<T>& a) {
    constexpr T stray = std::numeric_limits<T>::signaling_NaN();
    bool whole = true;
    for (auto* each : a.written())
      each_of_guards(*each, [&](const unsigned char* number) { whole = whole && std::memcmp(number, &stray, sizeof(T)) == 0; });
    return whole;
  });
}

}  // namespace fdtd2d
