// Saves a field of native/grid in pieces, one of each process, so that any number of processes can restore it. Two generations are kept.
//
//   checkpoints::Store<checkpoints::Alone> store;                          or Ranks, of firstlight/checkpoint/mpi.hpp
//   store.open({.folder = folder, .name = "ocean"}, {});
//   store.save(generation, block, field);                                returns when the generation is durable on all ranks
//   store.restore(block, field);                                         the newest complete generation; returns its number
//
// Asynchronously: begin() copies the field, write() may run in a thread while the program computes, finish() makes the generation complete.
//
// A generation is complete if its manifest exists, which is written last. A process that is killed at any moment leaves the generation
// before it complete. Errors are agreed on: every rank throws Failure, and nothing of the new generation counts. What is damaged is
// rebuilt if the place has copies or parity, otherwise refused.
#pragma once

#include "firstlight/checkpoint/restore.hpp"

namespace fl::checkpoints::inline FL_ROLE {

// What tests do otherwise.
struct Right {
  static constexpr bool syncs = true, whole = true, parity = true;
};

template <class Team, class Ways = Right>
class Store {
 public:
  void open(const Place& place, const Team& team) { place_ = place, team_ = team; }

  const Team& team() const { return team_; }
  const Place& place() const { return place_; }
  // What the last save did on this rank.
  const Journal& journal() const { return journal_; }

  template <class T>
  void save(std::uint64_t generation, const grid::Block<3>& block, const grid::Field<T, 3>& field) {
    begin(generation, block, field);
    write();
    finish();
  }

  // Fills the own cells of a field, divided among these processes in any way; returns the number of the newest complete generation.
  template <class T>
  std::uint64_t restore(const grid::Block<3>& block, grid::Field<T, 3>& field) const {
    return checkpoints::restore(place_, team_, block, field);
  }

  // Copies the field; exchanges copies or parity. Collective.
  template <class T>
  void begin(std::uint64_t generation, const grid::Block<3>& block, const grid::Field<T, 3>& field) {
    journal_ = {};
    if (place_.local() && team_.size() < 2)
      throw Failure("copies and parity require at least two processes: a single process would also lose its copies");
    make_folders();
    forget(generation);
    manifest_ = {};
    manifest_.generation = generation, manifest_.kind = place_.kind, manifest_.protection = place_.protection;
    manifest_.element = sizeof(T), manifest_.extents = block.domain.extents;
    manifest_.group = static_cast<std::uint64_t>(place_.group), manifest_.distance = static_cast<std::uint64_t>(place_.distance);
    for (int r = 0; r < team_.size(); ++r) {
      const Box3 box = grid::Block<3>(block.domain, block.ranks, r).owned;
      manifest_.pieces.push_back({box, static_cast<std::uint64_t>(box.cells()) * sizeof(T), 0});
    }
    packed_.resize(manifest_.pieces[static_cast<std::size_t>(team_.rank())].bytes);
    copy_out(field, block.cells(), packed_.data());
    if (place_.protection == Protection::partner) copy_to_partner();
    if (place_.protection == Protection::parity) make_parity();
  }

  // Writes what begin() copied, and brings it to the disk. Without communication; errors are kept for finish().
  void write() {
    error_.clear();
    try {
      const int me = team_.rank();
      sums_ = sums_of(packed_.data(), packed_.size());
      if (place_.kind == Kind::slots)
        write_slot();
      else
        put(place_.piece(manifest_.generation, me), me, packed_, sums_);
      if (place_.protection == Protection::partner) {
        const int of = kept_for();
        put(place_.copy(manifest_.generation, of, team_.size()), of, beside_, sums_of(beside_.data(), beside_.size()));
      }
      if (place_.protection == Protection::parity)
        put(place_.parity(manifest_.generation, me), me, beside_, sums_of(beside_.data(), beside_.size()));
      if (Ways::syncs) sync_folder(place_.home(me), journal_);
    } catch (const Failure& failure) {
      error_ = failure.what();
    }
  }

  // Makes the generation complete if all ranks wrote theirs. Collective.
  void finish() {
    try {
      team_.agree(error_);
    } catch (const Failure&) {
      discard();
      throw;
    }
    const auto digests = team_.gather({digest_of(sums_)});
    for (std::size_t r = 0; r < digests.size(); ++r) manifest_.pieces[r].digest = digests[r][0];
    const bool mine = team_.rank() == 0 || place_.local();
    const std::string home = place_.home(team_.rank());
    try {
      together(team_, [&] {
        if (mine) write_manifest(home, place_.name, manifest_, journal_);
      });
    } catch (const Failure&) {
      if (mine) remove_manifest(home, place_.name, manifest_.generation);
      team_.gather({});  // no manifest is left when the first piece goes
      discard();
      throw;
    }
  }

 private:
  void make_folders() const {
    together(team_, [&] {
      if (team_.rank() == 0) make_folder(place_.folder);
    });
    if (place_.local()) together(team_, [&] { make_folder(place_.home(team_.rank())); });
  }

  // Removes all generations but the newest one before this one. It is complete if the manifest is in the folder of any rank.
  void forget(std::uint64_t generation) {
    const std::string home = place_.home(team_.rank());
    const bool mine = team_.rank() == 0 || place_.local();
    std::uint64_t newest = none;
    together(team_, [&] {
      for (const std::uint64_t known : mine ? generations_in(home, place_.name) : std::vector<std::uint64_t>{})
        if (known < generation) newest = known;
    });
    std::uint64_t kept = none;
    for (const Words& words : team_.gather({newest}))
      if (words[0] != none && (kept == none || words[0] > kept)) kept = words[0];
    together(team_, [&] {
      if (place_.kind == Kind::slots && kept != none && kept % 2 == generation % 2)
        throw Failure("generation " + std::to_string(generation) + " would overwrite generation " + std::to_string(kept) +
                      ", the last complete one: even and odd numbers must alternate");
      if (mine) keep_only(home, place_.name, kept);
      for (const int other : place_.local() ? homes_in(place_.folder) : std::vector<int>{})  // of ranks that an earlier job had
        if (other >= team_.size() && other % team_.size() == team_.rank()) keep_only(place_.home(other), place_.name, kept);
    });
  }

  // Removes what this rank wrote of a generation that another rank could not write. A disk that is full has room again.
  void discard() const {
    const std::uint64_t g = manifest_.generation;
    const int me = team_.rank();
    std::vector<std::string> paths;
    if (place_.kind == Kind::pieces) paths.push_back(place_.piece(g, me));
    if (place_.protection == Protection::partner) paths.push_back(place_.copy(g, kept_for(), team_.size()));
    if (place_.protection == Protection::parity) paths.push_back(place_.parity(g, me));
    for (const std::string& path : paths) {
      ::unlink(path.c_str());
      ::unlink((path + unfinished).c_str());
    }
    if (place_.kind == Kind::slots) ::unlink((place_.piece(g, me) + unfinished).c_str());
  }

  // The member whose copy this rank keeps.
  int kept_for() const {
    const Index size = team_.size();
    return static_cast<int>((team_.rank() + size - place_.distance % size) % size);
  }
  void copy_to_partner() {
    std::vector<Item> items;
    for (int r = 0; r < team_.size(); ++r)
      items.push_back({r, partner_of(r, team_.size(), place_.distance), manifest_.pieces[static_cast<std::size_t>(r)].bytes});
    team_.deliver(
        items, [&](std::size_t k, unsigned char* to) { std::memcpy(to, packed_.data(), items[k].bytes); },
        [&](std::size_t k, const unsigned char* from) {
          beside_.resize(items[k].bytes);
          std::memcpy(beside_.data(), from, items[k].bytes);
        });
  }
  void make_parity() {
    const int me = team_.rank();
    const Parity parity(group_of(me, team_.size(), place_.distance, place_.group), manifest_.pieces);
    const std::size_t chunk = parity.chunk();
    std::vector<Item> items;
    for (const int from : parity.members())
      for (const int to : parity.members())
        if (from != to && (from == me || to == me)) items.push_back({from, to, chunk});
    beside_.resize(chunk);
    std::memset(beside_.data(), 0, chunk);
    team_.deliver(
        items,
        [&](std::size_t k, unsigned char* to) {
          std::memset(to, 0, chunk);
          parity.add(to, packed_.data(), packed_.size(), me, items[k].to);
        },
        [&](std::size_t, const unsigned char* from) {
          for (std::size_t k = 0; Ways::parity && k < chunk; ++k) beside_.data()[k] ^= from[k];
        });
  }

  void put(const std::string& path, int member, const Bytes& bytes, const Sums& sums) {
    if constexpr (Ways::syncs && Ways::whole) {
      write_container(path, manifest_.generation, member, bytes.data(), bytes.size(), sums, journal_);
    } else {
      File file(path + unfinished, O_WRONLY | O_CREAT | O_TRUNC);
      journal_.files += 1;
      for (std::size_t k = 0; k < sums.size(); ++k)
        if (Ways::whole || k != sums.size() / 2) write_block(file, k, bytes);
      write_head(file, manifest_.generation, member, bytes.size(), sums, journal_);
      if (Ways::syncs) file.sync(), journal_.synced += 1;
      file.close();
    }
    rename_file(path + unfinished, path);
  }
  void write_block(File& file, std::size_t k, const Bytes& bytes) {
    const std::size_t at = k * block_bytes, size = std::min(block_bytes, bytes.size() - at);
    file.write(bytes.data() + at, size, data_at(bytes.size()) + at);
    journal_.bytes += static_cast<Index>(size);
  }

  // The blocks that differ from what this process wrote into this slot last. A slot of another process is written whole: a process that
  // was killed may have changed blocks before their sums.
  void write_slot() {
    const int me = team_.rank();
    const std::string path = place_.piece(manifest_.generation, me);
    Sums& known = slots_[manifest_.generation % 2];
    if (known.size() != sums_.size()) {
      put(path, me, packed_, sums_);
    } else {
      const Sums old = std::move(known);
      known.clear();
      File file(path, O_WRONLY);
      journal_.files += 1;
      for (std::size_t k = 0; k < sums_.size(); ++k)
        if (sums_[k] != old[k] && (Ways::whole || k % 2 == 0)) write_block(file, k, packed_);
      write_head(file, manifest_.generation, me, packed_.size(), sums_, journal_);
      if (Ways::syncs) file.sync(), journal_.synced += 1;
      file.close();
    }
    known = sums_;
  }

  static constexpr std::uint64_t none = ~std::uint64_t{0};  // no generation

  Place place_;
  Team team_;
  Manifest manifest_;
  Bytes packed_, beside_;  // own piece; another's copy, or parity
  Sums sums_;              // of the own piece
  std::array<Sums, 2> slots_;
  std::string error_;
  Journal journal_;
};

}  // namespace fl::checkpoints::inline FL_ROLE
