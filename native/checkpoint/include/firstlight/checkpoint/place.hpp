// Where a checkpoint is, and the names of its files.
#pragma once

#include <string>

#include "firstlight/checkpoint/groups.hpp"

namespace fl::checkpoints::inline FL_ROLE {

struct Place {
  std::string folder, name;  // the name: letters, digits and underscores
  Kind kind = Kind::pieces;
  Protection protection = Protection::none;  // none: one folder that all ranks see; else one of each rank, which may be local to its node
  Index group = 4;                           // members that have parity in common, about
  Index distance = 1;                        // ranks of a node

  bool local() const { return protection != Protection::none; }
  std::string home(int rank) const { return local() ? folder + "/" + std::to_string(rank) : folder; }
  std::string piece(std::uint64_t generation, int member) const {
    const auto number = kind == Kind::slots ? "slot" + std::to_string(generation % 2) : std::to_string(generation);
    return home(member) + "/" + name + "." + number + "." + std::to_string(member) + ".piece";
  }
  // The copy of a member's piece in the folder of its partner.
  std::string copy(std::uint64_t generation, int member, int ranks) const {
    return named(partner_of(member, ranks, distance), generation, member, ".copy");
  }
  std::string parity(std::uint64_t generation, int member) const { return named(member, generation, member, ".parity"); }
  std::string field(std::uint64_t generation) const { return folder + "/" + name + "." + std::to_string(generation) + ".field"; }

 private:
  std::string named(int home_of, std::uint64_t generation, int member, const char* end) const {
    return home(home_of) + "/" + name + "." + std::to_string(generation) + "." + std::to_string(member) + end;
  }
};

// Removes what killed processes left under this name in a folder, and all generations but one.
inline void keep_only(const std::string& folder, const std::string& name, std::uint64_t kept) {
  for (const std::string& file : names_in(folder)) {
    const bool temporary = file.compare(0, name.size() + 1, name + ".") == 0 && file.ends_with(unfinished);
    const auto generation = generation_in(file, name);
    if (temporary || (generation && *generation != kept)) remove_file(folder + "/" + file);
  }
}

}  // namespace fl::checkpoints::inline FL_ROLE
