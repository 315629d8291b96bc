// A step of all variants: save, wait until it is durable, restart. Variants differ in the library's store and in its place.
#pragma once

#include <chrono>
#include <filesystem>
#include <future>

#include "cache.hpp"
#include "checkpoint.hpp"
#include "firstlight/checkpoint/store.hpp"
#include "firstlight/variant.hpp"

namespace checkpoint {

namespace store = fl::checkpoints;

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
    or_abort(s, [&] { fl::during(phases("held"), [&] { kept.save(number(s), s.block, s.field); }); });
    s.record.journal = kept.journal();
    restart(s);
  }

  // --- parts of a step, for variants that differ in one of them
  static std::uint64_t number(const State& s) { return static_cast<std::uint64_t>(s.generation); }

  // As after a failure: nothing is in memory, and one rank has lost its files if others can rebuild them.
  void restart(State& s) {
    const int lost = static_cast<int>(s.iteration % team.size());
    if (place.local() && team.rank() == lost) std::filesystem::remove_all(place.home(lost));
    team.gather({});
    s.record.resident = drop_from_cache(place.folder);
    team.gather({});
    fl::during(phases("restart"), [&] { restore(s); });
  }
  void restore(State& s) {
    try {
      s.record.restored_generation = static_cast<Index>(kept.restore(s.block, s.restored));
    } catch (const store::Failure& failure) {
      s.record.failure = s.folder.without_path(s.p.target, failure.what());
    }
  }
  // A state that cannot be saved ends the launch with the reason.
  template <class Work>
  static void or_abort(const State& s, const Work& work) {
    try {
      work();
    } catch (const store::Failure& failure) {
      fl::abort_all(s.folder.without_path(s.p.target, failure.what()));
    }
  }
};

// The program goes on when the state is copied. A thread writes it, and the program computes meanwhile; then it computes as much alone.
template <class Store, class Team>
struct InBackground : Saving<Store, Team> {
  using Base = Saving<Store, Team>;

  void step(State& s, Index) {
    Base::or_abort(s, [&] { fl::during(phases("held"), [&] { this->kept.begin(Base::number(s), s.block, s.field); }); });
    std::future<void> writer = std::async(std::launch::async, [&] { this->kept.write(); });
    const auto status = [&] { return writer.wait_for(std::chrono::seconds{}); };
    Index sweeps = 0;
    fl::during(phases("compute"), [&] {
      do {
        sweep(s), ++sweeps;
      } while (status() == std::future_status::timeout);
    });
    s.record.computed = status() == std::future_status::ready;
    s.sweeps += sweeps;
    writer.get();
    Base::or_abort(s, [&] { fl::during(phases("finish"), [&] { this->kept.finish(); }); });
    s.record.journal = this->kept.journal();
    this->team.gather({});
    fl::during(phases("alone"), [&] {
      for (Index k = 0; k < sweeps; ++k) sweep(s);
    });
    this->restart(s);
  }
  static void sweep(State& s) {
    for (double& x : s.work) x += 1;
  }
};

// One process without MPI.
template <template <class, class> class Step = Saving, class Ways = store::Right>
using Lone = Step<store::Store<store::Alone, Ways>, store::Alone>;

}  // namespace checkpoint
