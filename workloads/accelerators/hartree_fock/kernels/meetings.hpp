// What is to be done in a matrix, as meetings of groups, for devices: lists that are made on the host once for a geometry.
#pragma once

#include "device.hpp"
#include "tasks.hpp"

namespace hartree_fock {

// Groups that meet, by their numbers, and where the starts of the bras' kets begin.
struct Planned {
  int of, left, right;
  std::size_t starts;
  int begin, end;  // bras
};

class Meetings {
 public:
  static constexpr long long most_stored = 1 << 25;  // numbers: quartets by components of one meeting that stores its integrals

  std::vector<Planned> planned;   // class by class
  std::vector<long long> starts;  // of all
  std::vector<int> shells[2];     // first functions, of s and of p
  std::vector<int> places;        // by first functions
  long long stored = 0;           // numbers that are stored at a time
  std::array<long long, class_count> quartets{};

  void make(const Pairs& pairs, const std::vector<Shell>& all, int n, double tau, bool stores) {
    planned.clear(), starts.clear(), stored = 0, quartets = {};
    place(pairs, all, n);
    const auto& groups = pairs.groups();
    for (int of = 0; of < class_count; ++of)
      for (std::size_t left = 0; left < groups.size(); ++left)
        for (std::size_t right = 0; right < groups.size(); ++right)
          if (groups[left].l == classes[of].bra && groups[right].l == classes[of].ket &&
              (classes[of].bra != classes[of].ket || right <= left))
            meet(pairs, of, static_cast<int>(left), static_cast<int>(right), tau, stores);
  }

  // With all that a kernel reads, which is stored where `base` points: base.starts points to the first of all.
  Meeting meeting(const Pairs& pairs, const Planned& plan, Meeting base) const {
    base.left = pairs.groups()[plan.left], base.right = pairs.groups()[plan.right];
    base.begin = plan.begin, base.end = plan.end;
    base.starts += plan.starts;
    return base;
  }

 private:
  void meet(const Pairs& pairs, int of, int left, int right, double tau, bool stores) {
    const Group &bras = pairs.groups()[left], &kets = pairs.groups()[right];
    const long long components = components_of(bras.l) * components_of(kets.l);
    const std::size_t first = starts.size();
    starts.push_back(0);
    int begin = 0;
    for (int b = 0; b < bras.size; ++b) {
      starts.push_back(starts.back() + pairs.partners(bras, b, kets, tau));
      const long long numbers = components * (starts.back() - starts[first + begin]);
      const bool full = stores && b > begin && numbers > most_stored;
      if (full) planned.push_back({of, left, right, first, std::exchange(begin, b), b});
      stored = std::max(stored, full ? components * (starts.back() - starts[first + b]) : numbers);
    }
    planned.push_back({of, left, right, first, begin, bras.size});
    quartets[of] += starts.back();
  }

  void place(const Pairs& pairs, const std::vector<Shell>& all, int n) {
    for (auto& some : shells) some.clear();
    for (const Shell& shell : all) shells[shell.l].push_back(shell.first);
    places.assign(static_cast<std::size_t>(n) * n, -1);
    const PairsView view = pairs.view();
    for (const Group& group : pairs.groups())
      for (int k = 0; k < group.size; ++k) {
        const auto at = static_cast<int>(group.pairs + k);
        places[static_cast<std::size_t>(view.i[at]) * n + view.j[at]] = at;
      }
  }
};

}  // namespace hartree_fock
