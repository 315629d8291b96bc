// Stores that go past the caches, of one vector, native or narrower, at an address aligned to it.
//
// The one place with a builtin per architecture: gcc has no portable builtin for these stores (clang has). Where there is
// none at all, `available` is false and a variant that needs them refuses to run.
#pragma once

#include <atomic>
#include <string>

#include "firstlight/role.hpp"
#include "firstlight/simd.hpp"

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

namespace fl::inline FL_ROLE::nontemporal {

#if __has_builtin(__builtin_nontemporal_store)

inline constexpr bool available = true;
template <class T, class V>
[[gnu::always_inline]] inline void store(T* to, const V& v) {
  typedef T aliasing __attribute__((vector_size(sizeof(V)), may_alias));
  __builtin_nontemporal_store(static_cast<aliasing>(v), reinterpret_cast<aliasing*>(to));
}

#elif defined(__GNUC__) && defined(__SSE2__)

inline constexpr bool available = true;
template <class V>
[[gnu::always_inline]] inline void store(double* to, const V& v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    __builtin_ia32_movntpd512(to, v);
  else
#endif
#if defined(__AVX__)
      if constexpr (sizeof(V) == 32)
    __builtin_ia32_movntpd256(to, v);
  else
#endif
    __builtin_ia32_movntpd(to, v);  // does not compile with any other width
}

template <class V>
[[gnu::always_inline]] inline void store(float* to, const V& v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    __builtin_ia32_movntps512(to, v);
  else
#endif
#if defined(__AVX__)
      if constexpr (sizeof(V) == 32)
    __builtin_ia32_movntps256(to, v);
  else
#endif
    __builtin_ia32_movntps(to, v);  // does not compile with any other width
}

#else

inline constexpr bool available = false;
template <class T, class V>
inline void store(T*, const V&) {}

#endif

// For `.refuse` of a variant that is nothing without them: why it cannot run here, empty where it can.
inline std::string refusal() {
  return available ? "" : "it needs non-temporal stores, but this compiler provides none for this processor; use the variant simd";
}

// Such stores are weakly ordered: before another thread reads what was written, or the clock, they must be on their way.
inline void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace fl::inline FL_ROLE::nontemporal
