// One file with the whole field in the order of its cells, written and read by MPI-IO collectively. So any number of processes restores it
// with a view of its own. The manifest has the sum over all words of the field, which any division computes alike.
#pragma once

#include <limits>

#include "firstlight/checkpoint/mpi.hpp"
#include "firstlight/checkpoint/store.hpp"

namespace fl::checkpoints::inline FL_ROLE {

// This rank's share of the sum over all words of a field.
template <class T>
std::uint64_t content_share(const grid::Block<3>& block, const unsigned char* packed) {
  static_assert(sizeof(T) % sizeof(std::uint64_t) == 0, "cells of a shared file consist of words");
  constexpr std::uint64_t words = sizeof(T) / sizeof(std::uint64_t);
  std::uint64_t sum = 0;
  grid::each_row(block.cells(), [&](const Point3& p, Index count) {
    const std::uint64_t first = block.number(block.global(p)) * words;
    for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(count) * words; ++k, packed += 8) {
      std::uint64_t word;
      std::memcpy(&word, packed, 8);
      sum += share_of_word(first + k, word);
    }
  });
  return sum;
}

template <class Ways = Right>
class SharedFile {
 public:
  void open(Place place, const Ranks& team) {
    place.kind = Kind::field, place.protection = Protection::none;
    place_ = place, team_ = team;
  }

  const Ranks& team() const { return team_; }
  const Place& place() const { return place_; }
  const Journal& journal() const { return journal_; }

  template <class T>
  void save(std::uint64_t generation, const grid::Block<3>& block, const grid::Field<T, 3>& field) {
    save(generation, block, block, field);
  }
  // `seen`: the cells of the file that this rank writes.
  template <class T>
  void save(std::uint64_t generation, const grid::Block<3>& block, const grid::Block<3>& seen, const grid::Field<T, 3>& field) {
    journal_ = {};
    forget(generation);
    packed_.resize(static_cast<std::size_t>(block.cells().cells()) * sizeof(T));
    copy_out(field, block.cells(), packed_.data());
    Manifest manifest;
    manifest.generation = generation, manifest.kind = Kind::field, manifest.element = sizeof(T), manifest.extents = block.domain.extents;
    manifest.content = team_.total(content_share<T>(block, packed_.data()));
    const std::string path = place_.field(generation);
    try {
      write<T>(path, seen);
      together(team_, [&] {
        if (team_.rank() == 0) complete(path, manifest, static_cast<std::size_t>(whole(block).cells()) * sizeof(T));
      });
    } catch (const Failure&) {
      if (team_.rank() == 0) {
        remove_manifest(place_.folder, place_.name, generation);
        for (const std::string& name : {path, path + unfinished}) ::unlink(name.c_str());
      }
      throw;
    }
  }

  template <class T>
  std::uint64_t restore(const grid::Block<3>& block, grid::Field<T, 3>& field, std::uint64_t wanted = no_generation) {
    const Manifest manifest = find_manifest(place_, team_, wanted);
    require_alike<T>(manifest, block, Kind::field);
    packed_.resize(static_cast<std::size_t>(block.cells().cells()) * sizeof(T));
    const std::string path = place_.field(manifest.generation);
    together(team_, [&] {
      if (team_.rank() == 0 && File(path, O_RDONLY).size() != static_cast<std::size_t>(whole(block).cells()) * sizeof(T))
        throw Failure(path + " has changed its length");
    });
    move<T>(path, MPI_MODE_RDONLY, block, [&](MPI_File file, int cells, MPI_Datatype cell) {
      return MPI_File_read_all(file, packed_.data(), cells, cell, MPI_STATUS_IGNORE);
    });
    if (team_.total(content_share<T>(block, packed_.data())) != manifest.content)
      throw Failure(path + " is damaged: the checksum of its content is wrong");
    copy_in(field, block.cells(), packed_.data());
    return manifest.generation;
  }

 private:
  static Box3 whole(const grid::Block<3>& block) { return {{}, block.domain.extents}; }

  template <class T>
  void write(const std::string& path, const grid::Block<3>& seen) {
    move<T>(path + unfinished, MPI_MODE_CREATE | MPI_MODE_WRONLY, seen, [&](MPI_File file, int cells, MPI_Datatype cell) {
      return MPI_File_write_all(file, packed_.data(), cells, cell, MPI_STATUS_IGNORE);
    });
    journal_.bytes += static_cast<Index>(packed_.size());
  }
  void complete(const std::string& path, const Manifest& manifest, std::size_t bytes) {
    if (File(path + unfinished, O_RDONLY).size() != bytes) throw Failure(path + " is incomplete");
    rename_file(path + unfinished, path);
    if (Ways::syncs) sync_folder(place_.folder, journal_);
    write_manifest(place_.folder, place_.name, manifest, journal_);
  }

  void forget(std::uint64_t generation) {
    together(team_, [&] {
      if (team_.rank() != 0) return;
      make_folder(place_.folder);
      std::uint64_t kept = no_generation;
      for (const std::uint64_t known : generations_in(place_.folder, place_.name))
        if (known < generation) kept = known;
      keep_only(place_.folder, place_.name, kept);
    });
  }

  // Opens the file with a view of the own cells, calls `call`, and closes it; what was written is on the disk then.
  template <class T, class Call>
  void move(const std::string& path, int mode, const grid::Block<3>& block, const Call& call) {
    int extents[3], sizes[3], begins[3];
    std::string error;
    for (std::size_t d = 0; d < 3; ++d) {
      if (block.domain.extents[d] > std::numeric_limits<int>::max()) error = "MPI counts the cells along an edge in 32 bits";
      extents[d] = static_cast<int>(block.domain.extents[d]), sizes[d] = static_cast<int>(block.owned.size(d));
      begins[d] = static_cast<int>(block.owned.lower[d]);
    }
    if (block.owned.cells() > std::numeric_limits<int>::max()) error = "MPI counts the cells of a process in 32 bits; use more processes";
    team_.agree(error);
    MPI_Datatype cell, view;
    MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &cell);
    MPI_Type_commit(&cell);
    MPI_Type_create_subarray(3, extents, sizes, begins, MPI_ORDER_C, cell, &view);
    MPI_Type_commit(&view);
    MPI_File file = MPI_FILE_NULL;
    int status = MPI_File_open(team_.communicator(), path.c_str(), mode, MPI_INFO_NULL, &file);
    agree(status, path, "cannot be opened");
    const bool writes = (mode & MPI_MODE_WRONLY) != 0;
    status = MPI_File_set_view(file, 0, cell, view, "native", MPI_INFO_NULL);
    if (status == MPI_SUCCESS) status = call(file, static_cast<int>(block.owned.cells()), cell);
    if (writes) journal_.files += 1;
    if (writes && Ways::syncs && status == MPI_SUCCESS) {
      status = MPI_File_sync(file);
      journal_.synced += 1;
    }
    const int closed = MPI_File_close(&file);
    MPI_Type_free(&view);
    MPI_Type_free(&cell);
    agree(status == MPI_SUCCESS ? closed : status, path, writes ? "cannot be written" : "cannot be read");
  }
  void agree(int status, const std::string& path, const char* what) const {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    if (status != MPI_SUCCESS) MPI_Error_string(status, text, &length);
    team_.agree(status == MPI_SUCCESS ? "" : path + " " + what + ": " + text);
  }

  Place place_;
  Ranks team_;
  Bytes packed_;
  Journal journal_;
};

}  // namespace fl::checkpoints::inline FL_ROLE
