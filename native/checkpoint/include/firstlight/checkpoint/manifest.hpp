// The manifest of a generation: what it consists of. Its name appears last, so a generation with a manifest is complete.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firstlight/checkpoint/container.hpp"
#include "firstlight/grid/box.hpp"

namespace fl::checkpoints::inline FL_ROLE {

using Box3 = grid::Box<3>;
using Point3 = grid::Point<3>;

// What one process saved: its cells, their bytes, and the digest of their sums.
struct Piece {
  Box3 box;
  std::uint64_t bytes = 0, digest = 0;
};

enum class Kind : std::uint64_t { pieces, slots, field };
enum class Protection : std::uint64_t { none, partner, parity };

struct Manifest {
  std::uint64_t mark = container_mark, generation = 0;
  Kind kind = Kind::pieces;
  Protection protection = Protection::none;
  std::uint64_t element = 0;   // bytes
  std::uint64_t group = 0;     // members of a group with parity, about
  std::uint64_t distance = 1;  // ranks from a member of a group to the next one
  std::uint64_t content = 0;   // the sum over all words, of one field
  Point3 extents{};
  std::vector<Piece> pieces;

  std::vector<std::uint64_t> words() const {
    std::vector<std::uint64_t> out{
        mark, generation, static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(protection), element, group, distance, content};
    for (const Index extent : extents) out.push_back(static_cast<std::uint64_t>(extent));
    for (const Piece& piece : pieces) {
      for (std::size_t d = 0; d < 3; ++d) {
        out.push_back(static_cast<std::uint64_t>(piece.box.lower[d]));
        out.push_back(static_cast<std::uint64_t>(piece.box.upper[d]));
      }
      out.push_back(piece.bytes);
      out.push_back(piece.digest);
    }
    out.push_back(sum_of(out.data(), out.size() * sizeof out[0]));
    return out;
  }
  // Throws Failure if the words are not those of a manifest.
  static Manifest of(const std::vector<std::uint64_t>& words, const std::string& path) {
    constexpr std::size_t fixed = 11, each = 8;
    if (words.size() <= fixed || (words.size() - fixed - 1) % each != 0 || words[0] != container_mark)
      throw Failure(path + " is not the manifest of a checkpoint of this version and byte order");
    if (sum_of(words.data(), (words.size() - 1) * sizeof words[0]) != words.back())
      throw Failure(path + " is damaged: its checksum is wrong");
    Manifest m;
    m.generation = words[1], m.kind = static_cast<Kind>(words[2]), m.protection = static_cast<Protection>(words[3]);
    m.element = words[4], m.group = words[5], m.distance = words[6], m.content = words[7];
    for (std::size_t d = 0; d < 3; ++d) m.extents[d] = static_cast<Index>(words[8 + d]);
    for (std::size_t at = fixed; at + each < words.size(); at += each) {
      Piece piece;
      for (std::size_t d = 0; d < 3; ++d) {
        piece.box.lower[d] = static_cast<Index>(words[at + 2 * d]);
        piece.box.upper[d] = static_cast<Index>(words[at + 2 * d + 1]);
      }
      piece.bytes = words[at + 6], piece.digest = words[at + 7];
      m.pieces.push_back(piece);
    }
    return m;
  }
};

inline std::string manifest_name(const std::string& name, std::uint64_t generation) {
  return name + "." + std::to_string(generation) + ".manifest";
}

inline void write_manifest(const std::string& folder, const std::string& name, const Manifest& manifest, Journal& journal) {
  const std::string path = folder + "/" + manifest_name(name, manifest.generation);
  const auto words = manifest.words();
  File file(path + unfinished, O_WRONLY | O_CREAT | O_TRUNC);
  journal.files += 1;
  file.write(words.data(), words.size() * sizeof words[0], 0);
  journal.bytes += static_cast<Index>(words.size() * sizeof words[0]);
  file.sync();
  journal.synced += 1;
  file.close();
  rename_file(path + unfinished, path);
  sync_folder(folder, journal);
}

// After an error: what there is of it.
inline void remove_manifest(const std::string& folder, const std::string& name, std::uint64_t generation) {
  const std::string path = folder + "/" + manifest_name(name, generation);
  ::unlink(path.c_str());
  ::unlink((path + unfinished).c_str());
}

inline std::vector<std::uint64_t> read_words(const std::string& path) {
  File file(path, O_RDONLY);
  std::vector<std::uint64_t> words(file.size() / sizeof(std::uint64_t));
  file.read(words.data(), words.size() * sizeof words[0], 0);
  return words;
}

// The generation that a name like NAME.12.manifest is of.
inline std::optional<std::uint64_t> generation_in(const std::string& file, const std::string& name) {
  if (file.size() <= name.size() + 1 || file.compare(0, name.size() + 1, name + ".") != 0) return {};
  const std::string rest = file.substr(name.size() + 1), number = rest.substr(0, rest.find('.'));
  if (number.empty() || number.size() > 19 || number.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::strtoull(number.c_str(), nullptr, 10);
}

// The generations with a manifest in a folder, by number.
inline std::vector<std::uint64_t> generations_in(const std::string& folder, const std::string& name) {
  std::vector<std::uint64_t> found;
  for (const std::string& file : names_in(folder))
    if (const auto number = generation_in(file, name); number && file == manifest_name(name, *number)) found.push_back(*number);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace fl::checkpoints::inline FL_ROLE
