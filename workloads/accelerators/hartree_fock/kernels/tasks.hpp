// The bras of a class as tasks of their own, for those who divide the work: threads and processes draw them one after the other.
#pragma once

#include "direct.hpp"

namespace hartree_fock {

namespace detail {
template <class Run, int... number>
void with_class(int of, Run& run, std::integer_sequence<int, number...>) {
  ((of == number ? run(Number<classes[number].bra>(), Number<classes[number].ket>()) : void()), ...);
}
}  // namespace detail

// run(Number of bra, Number of ket) of a class that is known when the program runs.
template <class Run>
void with_class(int of, Run&& run) {
  detail::with_class(of, run, std::make_integer_sequence<int, class_count>());
}

struct Bra {
  int of;  // number of the class
  const Group* group;
  int number;  // in its group
};

// Behind those that are there, all of a class.
inline void tasks_of(const Pairs& pairs, int of, std::vector<Bra>& tasks) {
  for (const Group& group : pairs.groups())
    for (int k = 0; group.l == classes[of].bra && k < group.size; ++k) tasks.push_back({of, &group, k});
}

// One of them; returns how many quartets it had.
template <class V>
long long carry_out(const Pairs& pairs, const Bra& task, double tau, const Digest& to) {
  long long quartets = 0;
  with_class(task.of, [&](auto bra, auto ket) { quartets = with_bra<bra, ket, V>(pairs, *task.group, task.number, tau, to); });
  return quartets;
}

}  // namespace hartree_fock
