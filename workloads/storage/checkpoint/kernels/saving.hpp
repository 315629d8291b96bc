// A step of all variants: save, wait until it is durable, restart. Variants differ in the library's store and in its place.
#pragma once

#include <time.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "cache.hpp"
#include "checkpoint.hpp"
#include "firstlight/checkpoint/store.hpp"
#include "firstlight/variant.hpp"

namespace checkpoint {

namespace store = fl::checkpoints;

inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Store, class Team>
struct Saving {
  Store kept;
  Team team;
  store::Place place;

  void open(State& s) {
    place.folder = s.folder.path("state"), place.name = "field";
    place.distance = s.team.nodes > 1 ? s.team.ranks / s.team.nodes : 1;  // on one node each rank stands for a node
    kept.open(place, team);
  }

  void step(State& s, Index) {
    const double began = now();
    or_abort(s, [&] { fl::during(phases("held"), [&] { kept.save(number(s), s.block, s.field); }); });
    saved(s, now() - began);
    restart(s);
  }

  // --- parts of a step, for variants that differ in one of them
  static std::uint64_t number(const State& s) { return static_cast<std::uint64_t>(s.generation); }

  void saved(State& s, double seconds) {
    s.journal = kept.journal();
    s.durable += seconds;
    s.bytes += static_cast<double>(s.journal.bytes);
  }
  // As after a failure: nothing is in memory, and one rank has lost its files if others can rebuild them.
  void restart(State& s) {
    if (team.rank() == 0) {
      if (place.local()) std::filesystem::remove_all(place.home(static_cast<int>(s.iteration % team.size())));
      s.resident += drop_from_cache(place.folder);
    }
    team.gather({});
    fl::during(phases("restart"), [&] { restore(s); });
  }
  void restore(State& s) {
    try {
      s.restored_generation = static_cast<Index>(kept.restore(s.block, s.restored));
    } catch (const store::Failure& failure) {
      s.failure = without_folder(s, failure.what());
    }
  }
  // A state that cannot be saved ends the launch with the reason.
  template <class Work>
  static void or_abort(const State& s, const Work& work) {
    try {
      work();
    } catch (const store::Failure& failure) {
      fl::abort_all(without_folder(s, failure.what()));
    }
  }
  // A record has the name of the target, not its path.
  static std::string without_folder(const State& s, std::string why) {
    const std::string folder = s.folder.path("");
    for (std::size_t at; (at = why.find(folder)) != std::string::npos;) why.replace(at, folder.size(), "");
    return "target " + s.p.target.name + ": " + why;
  }
};

// The program goes on when the state is copied. A thread writes it, and the program computes meanwhile; then it computes as much alone.
template <class Store, class Team>
struct InBackground : Saving<Store, Team> {
  using Base = Saving<Store, Team>;

  void step(State& s, Index) {
    const double began = now();
    Base::or_abort(s, [&] { fl::during(phases("held"), [&] { this->kept.begin(Base::number(s), s.block, s.field); }); });
    std::atomic<bool> written = false;
    std::thread writer([&] { this->kept.write(), written = true; });
    double start = now();
    Index sweeps = 0;
    fl::during(phases("compute"), [&] {
      for (; sweeps == 0 || !written; ++sweeps) sweep(s);
    });
    s.computed += now() - start;
    writer.join();
    Base::or_abort(s, [&] { fl::during(phases("finish"), [&] { this->kept.finish(); }); });
    this->saved(s, now() - began);
    this->team.gather({});
    start = now();
    fl::during(phases("alone"), [&] {
      for (Index k = 0; k < sweeps; ++k) sweep(s);
    });
    s.computed_alone += now() - start;
    this->restart(s);
  }
  static void sweep(State& s) {
    for (double& x : s.work) x = 0.5 * x + 1;
  }
};

// One process without MPI.
template <template <class, class> class Step = Saving, class Ways = store::Right>
using Lone = Step<store::Store<store::Alone, Ways>, store::Alone>;

}  // namespace checkpoint
