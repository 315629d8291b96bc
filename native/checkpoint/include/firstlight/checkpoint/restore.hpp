// Restores a field from the pieces of a generation, by any number of processes that divide the field in any way.
#pragma once

#include <map>
#include <set>

#include "firstlight/checkpoint/cells.hpp"
#include "firstlight/checkpoint/place.hpp"
#include "firstlight/checkpoint/team.hpp"

namespace fl::checkpoints::inline FL_ROLE {

inline constexpr std::uint64_t no_generation = ~std::uint64_t{0};

// The numbers of the folders of ranks that this process sees.
inline std::vector<int> homes_in(const std::string& folder) {
  std::vector<int> found;
  for (const std::string& name : names_in(folder))
    if (name.size() < 9 && name.find_first_not_of("0123456789") == std::string::npos) found.push_back(std::atoi(name.c_str()));
  std::sort(found.begin(), found.end());
  return found;
}

// Returns the manifest of a generation, or of the newest one, on every rank. A damaged one is replaced by that in another rank's folder.
template <class Team>
Manifest find_manifest(const Place& place, const Team& team, std::uint64_t wanted) {
  std::vector<std::string> folders;
  std::uint64_t newest = no_generation;
  together(team, [&] {
    if (place.local())
      for (const int home : homes_in(place.folder)) folders.push_back(place.home(home));
    else if (team.rank() == 0)
      folders.push_back(place.folder);
    for (const std::string& folder : folders)
      for (const std::uint64_t known : generations_in(folder, place.name))
        if (wanted == no_generation ? newest == no_generation || known > newest : known == wanted) newest = known;
  });
  std::uint64_t agreed = no_generation;
  for (const Words& words : team.gather({newest}))
    if (words[0] != no_generation && (agreed == no_generation || words[0] > agreed)) agreed = words[0];
  if (agreed == no_generation)
    throw Failure(place.folder + " has no complete generation of " + place.name +
                  (wanted == no_generation ? "" : " with the number " + std::to_string(wanted)));
  Words mine;
  std::string error;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + manifest_name(place.name, agreed);
    if (!mine.empty() || access(path.c_str(), F_OK) != 0) continue;
    try {
      mine = read_words(path);
      Manifest::of(mine, path);
    } catch (const Failure& failure) {
      mine.clear(), error = failure.what();
    }
  }
  const auto all = team.gather(mine);
  const auto first = std::find_if(all.begin(), all.end(), [](const Words& words) { return !words.empty(); });
  if (first == all.end()) team.agree(error);
  return Manifest::of(*first, place.folder);
}

// The pieces of a generation in the memory of the ranks that read them.
template <class Team>
class Pieces {
 public:
  Pieces(const Place& place, const Team& team, const Manifest& manifest) : place_(place), team_(team), manifest_(manifest) {
    place_.kind = manifest.kind, place_.protection = manifest.protection;
    place_.group = static_cast<Index>(manifest.group), place_.distance = static_cast<Index>(manifest.distance);
    see_homes();
  }

  // Reads every piece on one rank; rebuilds those that are lost or damaged. Throws Failure on every rank if one cannot be had.
  void load() {
    std::vector<int> lost;
    std::string why;
    for (int p = 0; p < saved(); ++p) {
      where_.push_back(reader(p));
      if (where_.back() != team_.rank()) continue;
      try {
        take(p, place_.piece(manifest_.generation, p));
      } catch (const Failure& failure) {
        if (why.empty()) why = failure.what();
        lost.push_back(p);
      }
    }
    Words mine(lost.begin(), lost.end());
    std::set<int> missing;
    for (const Words& words : team_.gather(mine)) missing.insert(words.begin(), words.end());
    for (int p = 0; p < saved(); ++p)
      if (where_[static_cast<std::size_t>(p)] < 0) missing.insert(p);
    if (missing.empty()) return;
    if (place_.protection == Protection::partner)
      for (const int p : missing) read_copy(p);
    else if (place_.protection == Protection::parity)
      for (const int p : missing) rebuild(p, missing);
    else
      team_.agree(why);
  }

  int where(int piece) const { return where_[static_cast<std::size_t>(piece)]; }  // the rank that has it
  const unsigned char* data(int piece) const { return contents_.at(piece).data.data(); }

 private:
  int saved() const { return static_cast<int>(manifest_.pieces.size()); }
  const Piece& piece(int p) const { return manifest_.pieces[static_cast<std::size_t>(p)]; }

  // Which ranks see the folder of which member: each does where the file system is shared, those of one node do where it is not.
  void see_homes() {
    if (!place_.local()) return;
    Words mine;
    together(team_, [&] {
      for (const int home : homes_in(place_.folder))
        if (home < saved()) mine.push_back(static_cast<std::uint64_t>(home));
    });
    seen_.resize(manifest_.pieces.size());
    const auto all = team_.gather(mine);
    for (std::size_t r = 0; r < all.size(); ++r)
      for (const std::uint64_t home : all[r]) seen_[home].push_back(static_cast<int>(r));
  }
  // The rank that reads in the folder of a member; -1 if no rank sees it.
  int reader(int member) const {
    if (!place_.local()) return member % team_.size();
    const auto& ranks = seen_[static_cast<std::size_t>(member)];
    return ranks.empty() ? -1 : ranks[static_cast<std::size_t>(member) % ranks.size()];
  }

  void take(int p, const std::string& path) {
    Contents found = read_container(path, manifest_.generation, p);
    if (digest_of(found.sums) != piece(p).digest || found.data.size() != piece(p).bytes)
      throw Failure(path + " is not the piece that the manifest describes");
    contents_[p] = std::move(found);
  }
  void read_copy(int p) {
    const int home = partner_of(p, saved(), place_.distance), there = reader(home);
    together(team_, [&] {
      if (there < 0) throw Failure("member " + std::to_string(p) + " and its partner " + std::to_string(home) + " are both lost");
      if (there == team_.rank()) take(p, place_.copy(manifest_.generation, p, saved()));
    });
    where_[static_cast<std::size_t>(p)] = there;
  }

  void rebuild(int lost, const std::set<int>& missing) {
    const Parity parity(group_of(lost, saved(), place_.distance, place_.group), manifest_.pieces);
    std::map<int, Contents> parities;  // on the ranks that read them
    std::vector<int> others;
    together(team_, [&] {
      for (const int m : parity.members()) {
        if (m == lost) continue;
        if (missing.contains(m))
          throw Failure("members " + std::to_string(lost) + " and " + std::to_string(m) +
                        " of a group are lost or damaged, but parity rebuilds only one");
        others.push_back(m);
        if (reader(m) == team_.rank()) {
          parities[m] = read_container(place_.parity(manifest_.generation, m), manifest_.generation, m);
          if (parities[m].data.size() != parity.chunk()) throw Failure(place_.parity(manifest_.generation, m) + " has another length");
        }
      }
    });
    const int here = where(others.front());
    std::vector<Item> items;
    for (const int m : others) items.push_back({where(m), here, piece(m).bytes});
    for (const int m : others) items.push_back({reader(m), here, parity.chunk()});
    const auto member = [&](std::size_t k) { return others[k % others.size()]; };
    const bool rebuilds = here == team_.rank();
    Contents found{Bytes(rebuilds ? piece(lost).bytes : 0), {}};
    std::map<int, Bytes> chunks;  // of the lost member, by the member with their parity
    if (rebuilds)
      for (const int m : others) std::memset((chunks[m] = Bytes(parity.chunk())).data(), 0, parity.chunk());
    team_.deliver(
        items,
        [&](std::size_t k, unsigned char* to) {
          const Contents& from = k < others.size() ? contents_.at(member(k)) : parities.at(member(k));
          std::memcpy(to, from.data.data(), items[k].bytes);
        },
        [&](std::size_t k, const unsigned char* from) {
          if (k < others.size()) {
            for (const int at : others)
              if (at != member(k)) parity.add(chunks[at].data(), from, items[k].bytes, member(k), at);
          } else {
            for (std::size_t b = 0; b < parity.chunk(); ++b) chunks[member(k)].data()[b] ^= from[b];
          }
        });
    together(team_, [&] {
      if (!rebuilds) return;
      for (const int m : others) parity.put(found.data.data(), found.data.size(), chunks[m].data(), lost, m);
      found.sums = sums_of(found.data.data(), found.data.size());
      if (digest_of(found.sums) != piece(lost).digest)
        throw Failure("member " + std::to_string(lost) + " cannot be rebuilt: the parity of its group is wrong");
      contents_[lost] = std::move(found);
    });
    where_[static_cast<std::size_t>(lost)] = here;
  }

  Place place_;
  Team team_;
  const Manifest& manifest_;
  std::vector<std::vector<int>> seen_;
  std::vector<int> where_;
  std::map<int, Contents> contents_;
};

// Throws Failure if a manifest is of another field.
template <class T>
void require_alike(const Manifest& manifest, const grid::Block<3>& block, Kind kind) {
  if (manifest.extents != block.domain.extents || manifest.element != sizeof(T))
    throw Failure("the checkpoint is of a grid of " + grid::words<3>(manifest.extents) + " cells of " + std::to_string(manifest.element) +
                  " bytes, not of " + grid::words<3>(block.domain.extents) + " cells of " + std::to_string(sizeof(T)));
  if ((manifest.kind == Kind::field) != (kind == Kind::field)) throw Failure("the checkpoint was saved with another strategy");
}

// Fills the own cells of a field; returns the generation. Collective. `wanted`: this generation, not the newest complete one.
template <class T, class Team>
std::uint64_t restore(const Place& place, const Team& team, const grid::Block<3>& block, grid::Field<T, 3>& field,
                      std::uint64_t wanted = no_generation) {
  const Manifest manifest = find_manifest(place, team, wanted);
  require_alike<T>(manifest, block, place.kind);
  Pieces<Team> pieces(place, team, manifest);
  pieces.load();
  std::vector<Item> items;
  std::vector<std::pair<int, Box3>> parts;
  for (int p = 0; p < static_cast<int>(manifest.pieces.size()); ++p)
    for (int r = 0; r < team.size(); ++r) {
      const Box3 box =
          grid::intersection(manifest.pieces[static_cast<std::size_t>(p)].box, grid::Block<3>(block.domain, block.ranks, r).owned);
      if (box.empty()) continue;
      items.push_back({pieces.where(p), r, static_cast<std::size_t>(box.cells()) * sizeof(T)});
      parts.emplace_back(p, box);
    }
  const Point3 back = grid::minus<3>({}, block.owned.lower);
  team.deliver(
      items,
      [&](std::size_t k, unsigned char* to) {
        const auto& [p, box] = parts[k];
        cut_out(pieces.data(p), manifest.pieces[static_cast<std::size_t>(p)].box, box, sizeof(T), to);
      },
      [&](std::size_t k, const unsigned char* from) { copy_in(field, parts[k].second.shifted(back), from); });
  return manifest.generation;
}

}  // namespace fl::checkpoints::inline FL_ROLE
