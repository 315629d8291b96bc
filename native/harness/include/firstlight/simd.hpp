// Portable SIMD over the compilers' vector extensions: as wide as the target of this compilation.
#pragma once

#include <cstring>

namespace fl::simd {

#if defined(__AVX512F__)
inline constexpr int bytes = 64;
#elif defined(__AVX__)
inline constexpr int bytes = 32;
#else
inline constexpr int bytes = 16;  // SSE2, NEON, VSX: the least that a vector unit has
#endif

template <class T>
struct vector_of {
  typedef T type __attribute__((vector_size(bytes)));
};
template <class T>
using native = typename vector_of<T>::type;

template <class T>
inline constexpr int width = bytes / static_cast<int>(sizeof(T));

template <class V, class T>
inline V load(const T* from) {  // no alignment needed
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class V, class T>
inline void store(T* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}

}  // namespace fl::simd
